import { chatState } from "../../drizzle/schema.ts";
import type { ChatChange, StoredMessage } from "../model/answerer.ts";
import { defineTopic } from "../model/nodes/cluster.ts";
import { NO_NEWS, type News } from "../model/nodes/news.ts";
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
  /**
   * After the commit of a timer that was held up until then: what lets it go, as the chat may have been given back while it was
   * on its way.
   */
  recheck(timer: StoredMessage, heldUntil: number, facts: ChatFacts): Statement[];
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

/** What waits because bots may say nothing in a chat. Default: nothing does. */
export interface HeldTimers {
  /** For the commit that lets bots speak from then on (Unix milliseconds). @param chats the chat's keys */
  releaseTimers(deviceId: number, chats: readonly string[], from: number): Statement[];
  /** Timers of a number have been let go by another node. */
  released?(deviceId: number): void;
}

const NOTHING_WAITS: HeldTimers = { releaseTimers: () => [] };

/** Somebody has taken a chat, or handed it back, at a node that need not have its number. */
const TAKEN = defineTopic<{ deviceId: number; chats: readonly string[] }>("takeover");

/** Facts are one object per chat, however many ask at the same time: what one of them learns all of them know. */
export function createChats(
  store: Pick<Store, "readOne" | "now" | "writer">,
  { releaseTimers, released }: HeldTimers = NOTHING_WAITS,
  news: News = NO_NEWS,
): Chats {
  const memory = createMemory((...chat) => readFacts(store, ...chat));
  const { known, loading } = memory;

  news.listen(TAKEN, {
    async hear({ deviceId, chats }) {
      await takenElsewhere(store, memory, deviceId, chats);
      released?.(deviceId);
    },
    reread() {
      known.clear();
      loading.clear();
    },
  });

  return {
    load: memory.load,

    save(deviceId, chat, change, facts, alias = null) {
      const { mutedUntil = null, takeoverEnded = false } = change;
      const lastIncomingAt = newLastIncoming(change, facts);
      const takeoverUntil = takeoverEnded ? null : (change.takeoverUntil ?? null);
      const statements: Statement[] = takeoverEnded
        ? [
            { sql: END_TAKEOVER, args: [deviceId, chat, alias ?? chat] },
            ...releaseTimers(deviceId, [chat, alias ?? chat], store.now()),
          ]
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
      // Also when the chat is only taken for less time than before.
      const freed = releaseTimers(deviceId, chats, until ?? store.now());
      // Whoever was asked does it, and tells the owner.
      const told = news.of(TAKEN, { deviceId, chats });
      await store.writer.commit([...ended, ...begun, ...freed, ...told], { owning: null });
      for (const chat of chats)
        for (const facts of await memory.every(deviceId, chat)) facts.takeoverUntil = until ?? 0;
      return until;
    },

    recheck({ deviceId, message }, heldUntil, { takeoverUntil }) {
      if (takeoverUntil >= heldUntil) return [];
      return releaseTimers(deviceId, [message.chatKey], Math.max(takeoverUntil, store.now()));
    },

    forget: memory.forget,

    onClockMoved(ms) {
      for (const facts of known.values()) moveBack(facts, ms, store.now());
    },
  };
}

async function readFacts(
  store: Pick<Store, "readOne">,
  deviceId: number,
  chat: string,
  alias: string | null,
): Promise<ChatFacts> {
  const row = await store.readOne(LOAD, [deviceId, chat, alias ?? chat]);
  return {
    takeoverUntil: row?.takeoverUntil ?? 0,
    mutedUntil: row?.mutedUntil ?? 0,
    lastIncomingAt: row?.lastIncomingAt ?? 0,
    repliedAt: [],
  };
}

/** What another node has stored holds here; what is known besides, as who was answered lately, stays. */
async function takenElsewhere(
  store: Pick<Store, "readOne">,
  { known, loading }: Memory,
  deviceId: number,
  chats: readonly string[],
): Promise<void> {
  for (const chat of chats) {
    const key = keyOf(deviceId, chat);
    const facts = (await loading.get(key)) ?? known.get(key);
    if (facts === undefined) continue;
    const before = facts.takeoverUntil;
    const { takeoverUntil } = await readFacts(store, deviceId, chats[0]!, chats[1] ?? null);
    // The owner may have written by hand meanwhile, and of two times the later one is in the table.
    const kept = facts.takeoverUntil === before ? 0 : facts.takeoverUntil;
    facts.takeoverUntil = Math.max(takeoverUntil, kept);
  }
}

function moveBack(facts: ChatFacts, ms: number, now: number): void {
  // As in the database: what is not so far ahead was set since.
  const moved = (at: number): number => (at > now + ms / 2 ? at - ms : at);
  Object.assign(facts, {
    takeoverUntil: moved(facts.takeoverUntil),
    mutedUntil: moved(facts.mutedUntil),
    lastIncomingAt: Math.min(facts.lastIncomingAt, now),
    repliedAt: facts.repliedAt.filter((at) => at <= now),
  });
}

type Memory = ReturnType<typeof createMemory>;

/** Chats that are known, and those that are being read. */
function createMemory(read: (deviceId: number, chat: string, alias: string | null) => Promise<ChatFacts>) {
  const known = createLru<string, ChatFacts>(REMEMBERED_CHATS);
  const loading = new Map<string, Promise<ChatFacts>>();
  return {
    known,
    loading,
    load(deviceId: number, chat: string, alias: string | null = null): Promise<ChatFacts> {
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
    /** Whatever stands for the chat here, now or in a moment. */
    async every(deviceId: number, chat: string): Promise<ChatFacts[]> {
      const key = keyOf(deviceId, chat);
      return [known.get(key), await loading.get(key)].filter((facts) => facts !== undefined);
    },
    forget(deviceId: number): void {
      const prefix = `${deviceId}:`;
      for (const held of [known, loading])
        for (const key of held.keys()) if (key.startsWith(prefix)) held.delete(key);
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
