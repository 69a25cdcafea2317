import { LRUCache } from "lru-cache";
import type { ChatChange } from "../model/answerer.ts";
import type { Statement, Store } from "../store/store.ts";

/** What guards must know of a chat. Times are Unix milliseconds; 0 is never. */
export interface ChatFacts {
  /** Bots are silent until then: the owner wrote by hand. */
  takeoverUntil: number;
  /** No automatic replies until then: loop guard. */
  mutedUntil: number;
  lastIncomingAt: number;
  /** Automatic replies of the last minute, oldest first. Not stored: a restart begins to count anew. */
  repliedAt: number[];
}

/** The table `chat_state`, in memory for chats that are talked in: a chat is asked for once, not for every message. */
export interface Chats {
  /** @param alias the chat's other form, under which it was known before */
  load(deviceId: number, chat: string, alias?: string | null): Promise<ChatFacts>;
  /** For the message's commit. */
  save(deviceId: number, chat: string, change: ChatChange, alias?: string | null): Statement[];
  /** After that commit. */
  saved(facts: ChatFacts, change: ChatChange): void;
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds: what lies ahead moves along. */
  onClockMoved(ms: number): void;
}

const REMEMBERED_CHATS = 20_000;

const LOAD = `SELECT max(takeover_until) AS takeover_until, max(muted_until) AS muted_until,
max(last_incoming_at) AS last_incoming_at FROM chat_state WHERE device_id = ? AND chat IN (?, ?)`;
// Times only move forwards here, and columns of others (a webhook that holds the chat) are left alone.
const SAVE = `INSERT INTO chat_state (device_id, chat, takeover_until, muted_until, last_incoming_at)
VALUES (?, ?, ?, ?, ?) ON CONFLICT (device_id, chat) DO UPDATE SET
takeover_until = coalesce(max(excluded.takeover_until, coalesce(takeover_until, 0)), takeover_until),
muted_until = coalesce(max(excluded.muted_until, coalesce(muted_until, 0)), muted_until),
last_incoming_at = coalesce(max(excluded.last_incoming_at, coalesce(last_incoming_at, 0)), last_incoming_at)`;

const END_TAKEOVER = "UPDATE chat_state SET takeover_until = NULL WHERE device_id = ? AND chat IN (?, ?)";

export function createChats(store: Store): Chats {
  const known = new LRUCache<string, ChatFacts>({ max: REMEMBERED_CHATS });

  return {
    async load(deviceId, chat, alias = null) {
      const key = `${deviceId}:${chat}`;
      const remembered = known.get(key);
      if (remembered !== undefined) return remembered;
      const [row] = await store.rows(LOAD, [deviceId, chat, alias ?? chat]);
      const facts: ChatFacts = {
        takeoverUntil: Number(row?.takeover_until ?? 0),
        mutedUntil: Number(row?.muted_until ?? 0),
        lastIncomingAt: Number(row?.last_incoming_at ?? 0),
        repliedAt: [],
      };
      known.set(key, facts);
      return facts;
    },

    save(deviceId, chat, change, alias = null) {
      const { mutedUntil = null, lastIncomingAt = null, takeoverEnded = false } = change;
      const takeoverUntil = takeoverEnded ? null : (change.takeoverUntil ?? null);
      const statements: Statement[] = takeoverEnded
        ? [{ sql: END_TAKEOVER, args: [deviceId, chat, alias ?? chat] }]
        : [];
      if (takeoverUntil !== null || mutedUntil !== null || lastIncomingAt !== null)
        statements.push({ sql: SAVE, args: [deviceId, chat, takeoverUntil, mutedUntil, lastIncomingAt] });
      return statements;
    },

    saved(facts, change) {
      facts.takeoverUntil = change.takeoverEnded
        ? 0
        : Math.max(facts.takeoverUntil, change.takeoverUntil ?? 0);
      facts.mutedUntil = Math.max(facts.mutedUntil, change.mutedUntil ?? 0);
      facts.lastIncomingAt = Math.max(facts.lastIncomingAt, change.lastIncomingAt ?? 0);
    },

    forget(deviceId) {
      const prefix = `${deviceId}:`;
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },

    onClockMoved(ms) {
      // As in the database: what is not so far ahead was set since.
      const ahead = store.now() + ms / 2;
      const moved = (at: number): number => (at > ahead ? at - ms : at);
      for (const facts of known.values()) {
        facts.takeoverUntil = moved(facts.takeoverUntil);
        facts.mutedUntil = moved(facts.mutedUntil);
        facts.repliedAt = facts.repliedAt.filter((at) => at <= store.now());
      }
    },
  };
}
