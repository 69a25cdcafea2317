import type { LRUCache } from "lru-cache";
import { chatTimers } from "../../../drizzle/schema.ts";
import type { Statement } from "../../model/statement.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { ChatTimer } from "../content/chat-timer.ts";

/** After how long messages disappear, in chats with people. A chat goes by each name that is known of the other side. */
export interface ChatTimers {
  /** For the commit of the message that told of it: an older setting than the one that is known changes nothing. */
  learned(names: string[], timer: ChatTimer): Intake;
  /** The same of a setting of our own. @param waId of the message that has told the chat of it */
  set(names: string[], timer: ChatTimer, waId: string): Intake;
  /** The setting of a chat. @throws StorageUnavailable */
  of(names: string[]): Promise<ChatTimer>;
  /** The same from memory; undefined when the database has to be asked. */
  peek(names: string[]): ChatTimer | undefined;
}

/** Settings that are in memory, by the chat's name. */
export type KnownTimers = LRUCache<string, ChatTimer>;

/** A chat whose messages stay. */
const STAYS: ChatTimer = { seconds: 0, since: 0 };

const FIND = defineQuery(
  "SELECT chat, seconds, since FROM chat_timers WHERE device_id = ? AND chat IN (SELECT value FROM json_each(?))",
  { chat: chatTimers.chat, seconds: chatTimers.seconds, since: chatTimers.since },
);
// The later setting counts, whatever order they come in.
const LEARN = `INSERT INTO chat_timers (device_id, chat, seconds, since) VALUES (?, ?, ?, ?)
ON CONFLICT (device_id, chat) DO UPDATE SET
seconds = CASE WHEN excluded.since >= since THEN excluded.seconds ELSE seconds END, since = max(excluded.since, since)
RETURNING seconds, since`;
/** Whoever gets a receipt for that message knows whose it was. */
const SET_BY = `UPDATE chat_timers SET set_by = ? WHERE device_id = ? AND chat IN (SELECT value FROM json_each(?))`;

/** The table `chat_timers` of one number, with those chats in memory that are written in. */
export function createChatTimers(
  store: Pick<Store, "read">,
  deviceId: number,
  known: KnownTimers,
): ChatTimers {
  function peek(names: string[]): ChatTimer | undefined {
    const found = names.map((name) => known.get(name));
    return found.every((timer) => timer !== undefined) ? latest(found) : undefined;
  }

  function learned(names: string[], timer: ChatTimer): Intake {
    const news = names.filter((name) => !isKnown(known.get(name), timer));
    if (news.length === 0) return NO_INTAKE;
    return {
      statements: news.map((name): Statement => ({
        sql: LEARN,
        args: [deviceId, name, timer.seconds, timer.since],
      })),
      committed(results) {
        for (const [index, name] of news.entries()) {
          const row = results[index]?.rows[0];
          if (row === undefined) known.delete(name);
          else known.set(name, { seconds: Number(row.seconds), since: Number(row.since) });
        }
      },
    };
  }

  return {
    peek,
    learned,
    set(names, timer, waId) {
      const by = { sql: SET_BY, args: [waId, deviceId, JSON.stringify(names)] };
      return joinIntakes(learned(names, timer), { ...NO_INTAKE, statements: [by] });
    },
    async of(names) {
      const inMemory = peek(names);
      if (inMemory !== undefined) return inMemory;
      const rows = await store.read(FIND, [deviceId, JSON.stringify(names)]);
      for (const name of names) {
        const row = rows.find(({ chat }) => chat === name);
        // What was learned meanwhile is newer.
        if (!known.has(name)) known.set(name, row ? { seconds: row.seconds, since: row.since } : STAYS);
      }
      return latest(names.map((name) => known.get(name) ?? STAYS));
    },
  };
}

const isKnown = (known: ChatTimer | undefined, { seconds, since }: ChatTimer): boolean =>
  known !== undefined && (known.since > since || (known.since === since && known.seconds === seconds));

const latest = (timers: ChatTimer[]): ChatTimer =>
  timers.reduce((newest, timer) => (timer.since > newest.since ? timer : newest), STAYS);
