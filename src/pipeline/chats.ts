import { chatState } from "../../drizzle/schema.ts";
import type { ChatChange } from "../model/answerer.ts";
import { MINUTE_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { createLru } from "../model/lru.ts";

/** What guards must know of a chat. Times are Unix milliseconds; 0 is never. */
export interface ChatFacts {
  /** Bots are silent until then: the owner wrote by hand. */
  takeoverUntil: number;
  /** No automatic replies until then: loop guard. */
  mutedUntil: number;
  /** As the table has it: at most a minute behind. */
  lastIncomingAt: number;
  /** Automatic replies of the last minute, oldest first. Not stored: a restart begins to count anew. */
  repliedAt: number[];
}

/** The table `chat_state`, in memory for chats that are talked in: a chat is asked for once, not for every message. */
export interface Chats {
  /** @param alias the chat's other form, under which it was known before */
  load(deviceId: number, chat: string, alias?: string | null): Promise<ChatFacts>;
  /** For the message's commit. */
  save(
    deviceId: number,
    chat: string,
    change: ChatChange,
    facts: ChatFacts,
    alias?: string | null,
  ): Statement[];
  /** After that commit. @param facts what `load` gave */
  saved(deviceId: number, chat: string, change: ChatChange, facts: ChatFacts): void;
  /**
   * A person takes the chat, or hands it back: bots are silent until then, whatever was said before.
   *
   * @param chats its keys, the canonical one first
   * @param ms    from now on; 0: bots go on at once
   * @returns until when they are silent, Unix milliseconds, or null
   */
  takeOver(deviceId: number, chats: readonly string[], ms: number): Promise<number | null>;
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds: what lies ahead moves along. */
  onClockMoved(ms: number): void;
}

const REMEMBERED_CHATS = 20_000;
/** What is decided by a chat's last message looks back a day: a row for each message would say no more. */
const LAST_INCOMING_EVERY_MS = MINUTE_MS;

const LOAD = defineQuery(
  `SELECT max(takeover_until) AS takeover_until, max(muted_until) AS muted_until,
max(last_incoming_at) AS last_incoming_at FROM chat_state WHERE device_id = ? AND chat IN (?, ?)`,
  {
    takeoverUntil: chatState.takeoverUntil,
    mutedUntil: chatState.mutedUntil,
    lastIncomingAt: chatState.lastIncomingAt,
  },
);
// Times only move forwards here, and columns of others (a webhook that holds the chat) are left alone.
const SAVE = `INSERT INTO chat_state (device_id, chat, takeover_until, muted_until, last_incoming_at)
VALUES (?, ?, ?, ?, ?) ON CONFLICT (device_id, chat) DO UPDATE SET
takeover_until = coalesce(max(excluded.takeover_until, coalesce(takeover_until, 0)), takeover_until),
muted_until = coalesce(max(excluded.muted_until, coalesce(muted_until, 0)), muted_until),
last_incoming_at = coalesce(max(excluded.last_incoming_at, coalesce(last_incoming_at, 0)), last_incoming_at)`;

const TAKE_OVER = `INSERT INTO chat_state (device_id, chat, takeover_until) VALUES (?, ?, ?)
ON CONFLICT (device_id, chat) DO UPDATE SET takeover_until = excluded.takeover_until`;
const END_TAKEOVER = "UPDATE chat_state SET takeover_until = NULL WHERE device_id = ? AND chat IN (?, ?)";

/** Facts are one object per chat, however many ask at the same time: what one of them learns all of them know. */
export function createChats(store: Pick<Store, "readOne" | "now" | "writer">): Chats {
  const known = createLru<string, ChatFacts>(REMEMBERED_CHATS);
  const loading = new Map<string, Promise<ChatFacts>>();

  async function read(deviceId: number, chat: string, alias: string | null): Promise<ChatFacts> {
    const row = await store.readOne(LOAD, [deviceId, chat, alias ?? chat]);
    return {
      takeoverUntil: row?.takeoverUntil ?? 0,
      mutedUntil: row?.mutedUntil ?? 0,
      lastIncomingAt: row?.lastIncomingAt ?? 0,
      repliedAt: [],
    };
  }

  return {
    load(deviceId, chat, alias = null) {
      const key = keyOf(deviceId, chat);
      const remembered = known.get(key);
      if (remembered !== undefined) return Promise.resolve(remembered);
      const reading: Promise<ChatFacts> =
        loading.get(key) ??
        read(deviceId, chat, alias)
          .then((facts) => {
            // Unless the number was forgotten meanwhile.
            if (loading.get(key) === reading) known.set(key, facts);
            return facts;
          })
          .finally(() => {
            if (loading.get(key) === reading) loading.delete(key);
          });
      loading.set(key, reading);
      return reading;
    },

    save(deviceId, chat, change, facts, alias = null) {
      const { mutedUntil = null, takeoverEnded = false } = change;
      const lastIncomingAt = newLastIncoming(change, facts);
      const takeoverUntil = takeoverEnded ? null : (change.takeoverUntil ?? null);
      const statements: Statement[] = takeoverEnded
        ? [{ sql: END_TAKEOVER, args: [deviceId, chat, alias ?? chat] }]
        : [];
      if (takeoverUntil !== null || mutedUntil !== null || lastIncomingAt !== null)
        statements.push({ sql: SAVE, args: [deviceId, chat, takeoverUntil, mutedUntil, lastIncomingAt] });
      return statements;
    },

    saved(deviceId, chat, change, facts) {
      const key = keyOf(deviceId, chat);
      apply(change, facts);
      // The chat may have been dropped from memory and read again while the message was being decided.
      const current = known.get(key);
      if (current !== undefined && current !== facts) apply(change, current);
      loading.get(key)?.then(
        (read) => apply(change, read),
        () => undefined,
      );
    },

    async takeOver(deviceId, chats, ms) {
      const until = ms === 0 ? null : store.now() + ms;
      const ended = chats.map((chat) => ({ sql: END_TAKEOVER, args: [deviceId, chat, chat] }));
      const begun = until === null ? [] : [{ sql: TAKE_OVER, args: [deviceId, chats[0]!, until] }];
      await store.writer.commit([...ended, ...begun]);
      for (const chat of chats) {
        const key = keyOf(deviceId, chat);
        const takeoverUntil = until ?? 0;
        for (const facts of [known.get(key), await loading.get(key)])
          if (facts !== undefined) facts.takeoverUntil = takeoverUntil;
      }
      return until;
    },

    forget(deviceId) {
      const prefix = `${deviceId}:`;
      for (const held of [known, loading])
        for (const key of held.keys()) if (key.startsWith(prefix)) held.delete(key);
    },

    onClockMoved(ms) {
      // As in the database: what is not so far ahead was set since.
      const ahead = store.now() + ms / 2;
      const moved = (at: number): number => (at > ahead ? at - ms : at);
      for (const facts of known.values()) {
        facts.takeoverUntil = moved(facts.takeoverUntil);
        facts.mutedUntil = moved(facts.mutedUntil);
        facts.lastIncomingAt = Math.min(facts.lastIncomingAt, store.now());
        facts.repliedAt = facts.repliedAt.filter((at) => at <= store.now());
      }
    },
  };
}

const keyOf = (deviceId: number, chat: string): string => `${deviceId}:${chat}`;

function apply(change: ChatChange, facts: ChatFacts): void {
  facts.takeoverUntil = change.takeoverEnded ? 0 : Math.max(facts.takeoverUntil, change.takeoverUntil ?? 0);
  facts.mutedUntil = Math.max(facts.mutedUntil, change.mutedUntil ?? 0);
  facts.lastIncomingAt = newLastIncoming(change, facts) ?? facts.lastIncomingAt;
}

/** Null when the table knows enough. */
function newLastIncoming({ lastIncomingAt = 0 }: ChatChange, known: ChatFacts): number | null {
  return lastIncomingAt >= known.lastIncomingAt + LAST_INCOMING_EVERY_MS ? lastIncomingAt : null;
}
