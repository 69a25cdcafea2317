import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import { outbox } from "../../../drizzle/schema.ts";
import { backoffMs } from "../../model/time.ts";
import { defineQuery, integer } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { StoredMessage } from "./queued.ts";
import type { StateCollector } from "../states.ts";

/** What a number's queue is brought into. */
export interface QueueHolder {
  add(messages: QueuedMessage[]): void;
  /** Whether it holds the message with this row's id. */
  has(id: number): boolean;
}

/** Brings one number's queued rows from the table into memory, oldest first, a page at a time. */
export interface QueueLoader {
  /** Looks for rows that the holder does not have. Never rejects: what could not be read is tried again. */
  load(): Promise<void>;
  /**
   * Looks for rows that other nodes have stored since the last look. Never rejects.
   *
   * @returns false when they could not be read now
   */
  loadNew(): Promise<boolean>;
  /** Messages that were queued just now. They wait until the rows before them have been read. */
  arrived(messages: StoredMessage[]): void;
  /** It needs no attempt any more, though its row may still say `queued` while it is being read. */
  ended(waId: string): void;
  stop(): void;
}

interface QueueLoaderDeps {
  store: Pick<Store, "pages" | "read" | "time">;
  states: Pick<StateCollector, "flush" | "hasLeft">;
  /** Its caller was told that it is not stored. */
  isTakenBack: (waId: string) => boolean;
  /** Other nodes store rows as well. */
  isShared: boolean;
  log: Logger;
}

/** Ids are cheap to look at: most of them are in memory already whenever a number connects again. */
const IDS_PER_PAGE = 1_000;
const ROWS_PER_PAGE = 200;
/** What holds of a row that was found in the table: an earlier run may have sent it, and groups may have changed. */
const FOUND = {
  draft: null,
  confirmed: false,
  retried: false,
  uncertain: true,
  allowed: false,
  isWarm: false,
  waitsForMedia: null,
  changing: null,
};
/** What holds of one that was stored by another node, for this one to send: nobody has tried it. */
const STORED_ELSEWHERE = { ...FOUND, uncertain: false };

const QUEUED_IDS = defineQuery(
  "SELECT id FROM outbox WHERE device_id = ? AND state = 'queued' AND id > ? ORDER BY id LIMIT ?",
  { id: integer() },
);
const QUEUED_ROWS = defineQuery(
  `SELECT id, device_id, wa_id, chat, jid, is_reply, attempts, failures, failing_since, created_at
FROM outbox
WHERE id IN (SELECT value FROM json_each(?)) AND state = 'queued' ORDER BY id`,
  {
    id: outbox.id,
    deviceId: outbox.deviceId,
    waId: outbox.waId,
    chat: outbox.chat,
    jid: outbox.jid,
    isReply: outbox.isReply,
    attempts: outbox.attempts,
    failures: outbox.failures,
    failingSince: outbox.failingSince,
    createdAt: outbox.createdAt,
  },
);

/**
 * The loader of one number.
 *
 * @param deps.isShared other nodes store rows for it
 */
export function createQueueLoader(
  deviceId: number,
  holder: QueueHolder,
  { store, states, isTakenBack, isShared, log }: QueueLoaderDeps,
): QueueLoader {
  /** Until the table was read once, what is stored now must not overtake what was stored before. */
  let isComplete = false;
  /** Every row of the number up to this one was seen here: ids grow with the commits. */
  let seenTo = 0;
  const held = new Map<number, StoredMessage>();
  let endedMeanwhile = new Set<string>();
  let loading: Promise<unknown> = Promise.resolve();
  let loads = 0;
  /** Was asked for, and has not begun: it serves whoever asks now. */
  let nextNew: Promise<boolean> | null = null;
  let failures = 0;
  let stopped = false;

  const isGone = (waId: string): boolean =>
    endedMeanwhile.has(waId) || states.hasLeft(waId) || isTakenBack(waId);

  /** @param from row behind which it looks; 0: all of them */
  async function readFrom(from: number): Promise<void> {
    const found = from === 0 ? FOUND : STORED_ELSEWHERE;
    // What is not stored yet would make a message look as if it still had to be sent.
    if (from === 0) await states.flush();
    const after = (last: { id: number } | null) => [deviceId, last?.id ?? from];
    for await (const page of store.pages(QUEUED_IDS, after, IDS_PER_PAGE)) {
      const unknown = page.map(({ id }) => id).filter((id) => !holder.has(id) && !held.has(id));
      for (let at = 0; at < unknown.length; at += ROWS_PER_PAGE) {
        if (stopped) return;
        await readRows(unknown.slice(at, at + ROWS_PER_PAGE), found);
        await turn();
      }
      addUpTo(page.at(-1)!.id);
    }
    isComplete = true;
    failures = 0;
    addHeld();
  }

  async function readRows(ids: number[], found: typeof FOUND): Promise<void> {
    const rows = await store.read(QUEUED_ROWS, [JSON.stringify(ids)]);
    const waiting = rows.filter(({ waId }) => !isGone(waId)).map((row) => ({ ...row, ...found }));
    addUpTo(ids.at(-1)!, waiting);
  }

  /** Everything up to this row is known by now, so what was held may go on with it, each at its place. */
  function addUpTo(id: number, messages: QueuedMessage[] = []): void {
    const due = [...held.values()].filter((message) => message.id <= id);
    for (const message of due) held.delete(message.id);
    seenTo = Math.max(seenTo, id);
    holder.add([...messages, ...due].toSorted((one, other) => one.id - other.id));
  }

  /** What was stored here goes on, unless another node has stored something before it that was not seen yet. */
  function addHeld(): void {
    const waiting = [...held.values()].toSorted((one, other) => one.id - other.id);
    let last = seenTo;
    for (const { id, before } of waiting) {
      if (before !== null && before > last) {
        void loadNew();
        break;
      }
      last = Math.max(last, id);
    }
    addUpTo(last);
  }

  function hold(messages: StoredMessage[]): void {
    for (const message of messages) held.set(message.id, message);
    if (isComplete) addHeld();
    else if (loads === 0) void load();
  }

  async function attempt(from: () => number): Promise<boolean> {
    endedMeanwhile = new Set();
    try {
      if (!stopped) await readFrom(from());
      return true;
    } catch (error) {
      // What is in memory goes on.
      log.error({ err: error, device: deviceId }, "could not read queued messages");
      store.time.after(backoffMs(++failures), () => void load());
      return false;
    } finally {
      loads--;
    }
  }

  function enqueue(from: () => number): Promise<boolean> {
    loads++;
    const done = loading.then(() => attempt(from));
    loading = done;
    return done;
  }

  const load = async (): Promise<void> => void (await enqueue(() => 0));

  function loadNew(): Promise<boolean> {
    nextNew ??= enqueue(() => {
      nextNew = null;
      return isComplete ? seenTo : 0;
    });
    return nextNew;
  }

  return {
    load,
    loadNew,
    arrived(messages) {
      if (isComplete && !isShared) return holder.add(messages);
      // What the table has shown already is here, or was here and has ended.
      hold(isShared ? messages.filter(({ id }) => id > seenTo) : messages);
    },
    ended(waId) {
      if (loads > 0) endedMeanwhile.add(waId);
      for (const [id, message] of held) if (message.waId === waId) held.delete(id);
    },
    stop: () => void (stopped = true),
  };
}
