import { createLru } from "../model/lru.ts";
import type { Statement } from "../model/statement.ts";

/** What is written to each table, in the words of `GET /messages/{id}/trace`. */
const WORDS: Record<string, string> = {
  outbox: "replies",
  bot_sessions: "session",
  bot_dialogues: "dialogue",
  bot_timers: "timer",
  bot_steps: "step",
  bot_store: "bot_store",
  deliveries: "delivery",
  delivery_attempts: "attempt",
  chat_state: "chat",
  wa_keys: "ratchet",
  wa_creds: "ratchet",
};
const WRITES = /^\s*(?:insert(?: or \w+)? into|replace into|update(?: or \w+)?|delete from) "?(\w+)/i;
/** Texts of statements are few: those of bots' tables and of their columns. */
const MOST_TEXTS = 500;

/** @returns counts what a commit holds, by what it is; statements of tables that are nobody's business are left out */
export function createHeldIn(): (statements: readonly Statement[]) => Record<string, number> {
  const words = createLru<string, string>(MOST_TEXTS);

  /** "": none of those that are told of. */
  function wordOf({ sql, isGuard }: Statement): string {
    const known = words.get(sql);
    if (known !== undefined) return known;
    const word = isGuard ? "" : (WORDS[WRITES.exec(sql)?.[1]?.toLowerCase() ?? ""] ?? "");
    words.set(sql, word);
    return word;
  }

  return (statements) => {
    const held: Record<string, number> = {};
    for (const statement of statements) {
      const word = wordOf(statement);
      if (word !== "") held[word] = (held[word] ?? 0) + 1;
    }
    return held;
  };
}
