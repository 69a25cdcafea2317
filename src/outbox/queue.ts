import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../log.ts";
import { outbox } from "../../drizzle/schema.ts";
import { backoffMs } from "../model/time.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { StateCollector } from "./states.ts";

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
  /** Messages that were stored just now. They wait until the rows before them have been read. */
  arrived(messages: QueuedMessage[]): void;
  /** It needs no attempt any more, though its row may still say `queued` while it is being read. */
  ended(waId: string): void;
  stop(): void;
}

interface QueueLoaderDeps {
  store: Pick<Store, "pages" | "read" | "time">;
  states: Pick<StateCollector, "flush" | "hasLeft">;
  /** Its caller was told that it is not stored. */
  isTakenBack: (waId: string) => boolean;
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
  waitsForMedia: null,
};

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

/** The loader of one number. */
export function createQueueLoader(
  deviceId: number,
  holder: QueueHolder,
  { store, states, isTakenBack, log }: QueueLoaderDeps,
): QueueLoader {
  /** Until the table was read once, what is stored now must not overtake what was stored before. */
  let isComplete = false;
  let held = new Map<number, QueuedMessage>();
  let endedMeanwhile = new Set<string>();
  let loading: Promise<void> = Promise.resolve();
  let loads = 0;
  let failures = 0;
  let stopped = false;

  const after = (last: { id: number } | null) => [deviceId, last?.id ?? 0];

  const isGone = (waId: string): boolean =>
    endedMeanwhile.has(waId) || states.hasLeft(deviceId, waId) || isTakenBack(waId);

  async function readAll(): Promise<void> {
    // What is not stored yet would make a message look as if it still had to be sent.
    await states.flush();
    for await (const page of store.pages(QUEUED_IDS, after, IDS_PER_PAGE)) {
      const unknown = page.map(({ id }) => id).filter((id) => !holder.has(id) && !held.has(id));
      for (let from = 0; from < unknown.length; from += ROWS_PER_PAGE) {
        if (stopped) return;
        await readRows(unknown.slice(from, from + ROWS_PER_PAGE));
        await turn();
      }
    }
    isComplete = true;
    failures = 0;
    holder.add([...held.values()]);
    held = new Map();
  }

  async function readRows(ids: number[]): Promise<void> {
    const rows = await store.read(QUEUED_ROWS, [JSON.stringify(ids)]);
    const waiting = rows.filter(({ waId }) => !isGone(waId));
    holder.add(waiting.map((row) => ({ ...row, ...FOUND })));
  }

  async function loadNext(): Promise<void> {
    endedMeanwhile = new Set();
    try {
      if (!stopped) await readAll();
    } catch (error) {
      // What is in memory goes on.
      log.error({ err: error, device: deviceId }, "queued messages could not be read");
      store.time.after(backoffMs(++failures), () => void load());
    } finally {
      loads--;
    }
  }

  function load(): Promise<void> {
    loads++;
    loading = loading.then(loadNext);
    return loading;
  }

  return {
    load,
    arrived(messages) {
      if (isComplete) return holder.add(messages);
      for (const message of messages) held.set(message.id, message);
      if (loads === 0) void load();
    },
    ended(waId) {
      if (loads > 0) endedMeanwhile.add(waId);
      for (const [id, message] of held) if (message.waId === waId) held.delete(id);
    },
    stop: () => void (stopped = true),
  };
}
