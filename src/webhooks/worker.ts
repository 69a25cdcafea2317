import type { ResultSet } from "@libsql/client";
import type { Logger } from "pino";
import type { Reply } from "../pipeline/answer.ts";
import type { Statement, Store } from "../store/store.ts";
import { postedBody, type EventFiles } from "./files.ts";
import { heldBy } from "./answerer.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import type { Drafts } from "./drafts.ts";
import type { Endpoint } from "./endpoint.ts";
import { isActive, type Endpoints } from "./endpoints.ts";
import type { Holds } from "./holds.ts";
import { deliveryOf, insertAttempt, updateDelivery, type Delivery } from "./rows.ts";

/** Where replies of later attempts go. Message ids are derived from the message that is answered. */
export interface ReplyOutbox {
  rows(answer: {
    deviceId: number;
    inboxId: number;
    origin: string;
    /** `chat`: canonical key of the chat that `jid` is. */
    replies: (Reply & { chat: string })[];
  }): { statements: Statement[]; waIds: string[]; release(results: ResultSet[]): void };
}

/** The guard against answering machines that answer each other. Replies of first attempts are the pipeline's to count. */
export interface LoopGuard {
  /** Whether automatic replies may go to this chat now. */
  allows(deviceId: number, chat: string): Promise<boolean>;
  count(deviceId: number, chat: string, replies: number): Promise<void>;
}

export interface RetryWorkerDeps {
  store: Store;
  log: Logger;
  endpoints: Endpoints;
  deliverer: Deliverer;
  drafts: Drafts;
  files: EventFiles;
  outbox: ReplyOutbox;
  loopGuard: LoopGuard;
  holds: Pick<Holds, "keep">;
  random: () => number;
  /** A delivery is in another state; called after the commit. */
  onDelivery?: (deviceId: number, id: string) => void;
  /** A delivery is given up. */
  onDead?: () => void;
}

export interface RetryWorker {
  /** Goes on where the last run of the gateway was. */
  start(): void;
  /** A row with this time is being committed. */
  expect(at: number): void;
  /** One attempt now, of a row that is committed. Never throws; the same delivery is never under way twice. */
  run(delivery: Delivery): Promise<void>;
  /** Begins nothing new; resolves when no attempt is under way. */
  stop(): Promise<void>;
}

interface Effects {
  statements: Statement[];
  /** Null: what is recorded of an earlier answer stays. */
  reply: Delivery["reply"];
  /** With the results of `statements`. */
  committed(results: ResultSet[]): void | Promise<void>;
}

const GUARDED = "not sent: the loop guard keeps automatic replies from this chat";

const MOST_AT_ONCE = 16;
/** So that one number's dead receiver does not take all places. */
const MOST_AT_ONCE_PER_NUMBER = 4;
/** Rows are also looked for this often: an expected row may be committed later than expected. */
const SWEEP_MS = 60_000;
const PAUSE_AFTER_TROUBLE_MS = 5000;

const DUE = `select * from deliveries
  where state in ('pending', 'retrying') and next_at <= ?
    and id not in (select value from json_each(?)) and device_id not in (select value from json_each(?))
  order by next_at limit ?`;
const NEXT = `select min(next_at) as at from deliveries
  where state in ('pending', 'retrying')
    and id not in (select value from json_each(?)) and device_id not in (select value from json_each(?))`;

/** Makes all attempts that are not the first one in a lane: retries, replays, and what a crash cut off. */
export function createRetryWorker(deps: RetryWorkerDeps): RetryWorker {
  const { store, log, endpoints, deliverer, drafts, files, outbox, loopGuard, holds, random } = deps;
  const underWay = new Map<string, { deviceId: number; ended: Promise<void> }>();
  let timer: NodeJS.Timeout | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;
  let running = false;
  let scan = Promise.resolve();

  function expect(at: number): void {
    if (!running || at >= wakesAt) return;
    wakeIn(at - store.now());
  }

  function wakeIn(pauseMs: number): void {
    if (timer) clearTimeout(timer);
    const pause = Math.min(Math.max(0, pauseMs), SWEEP_MS);
    wakesAt = store.now() + pause;
    timer = setTimeout(() => {
      timer = null;
      wakesAt = Number.POSITIVE_INFINITY;
      scan = scan.then(beginDue).catch(pauseAfter);
    }, pause);
    timer.unref();
  }

  function pauseAfter(error: unknown): void {
    log.error({ error }, "webhook retries pause: the database could not be read or written");
    if (running) wakeIn(PAUSE_AFTER_TROUBLE_MS);
  }

  async function beginDue(): Promise<void> {
    if (!running) return;
    const free = MOST_AT_ONCE - underWay.size;
    // Whatever ends wakes the worker again.
    if (free <= 0) return;
    const due = await store.rows(DUE, [store.now(), ...busy(), free]);
    for (const row of due) {
      const delivery = deliveryOf(row, store.box);
      if (!underWay.has(delivery.id) && placesLeft(delivery.deviceId)) void run(delivery);
    }
    const [next] = await store.rows(NEXT, busy());
    const at = next?.at;
    if (running && timer === null)
      wakeIn(at === null || at === undefined ? SWEEP_MS : Number(at) - store.now());
  }

  /** Ids under way, and numbers with no place left, as SQL takes them. */
  function busy(): [string, string] {
    const full = [...underWay.values()].map(({ deviceId }) => deviceId).filter((id) => !placesLeft(id));
    return [JSON.stringify([...underWay.keys()]), JSON.stringify(full)];
  }

  function placesLeft(deviceId: number): boolean {
    const taken = [...underWay.values()].filter((item) => item.deviceId === deviceId).length;
    return taken < MOST_AT_ONCE_PER_NUMBER;
  }

  function run(delivery: Delivery): Promise<void> {
    const known = underWay.get(delivery.id);
    if (known) return known.ended;
    const ended = attempt(delivery)
      .catch((error: unknown) => {
        // Cut off by the end of the gateway: it does not count, and is made again at the next start.
        if (running) pauseAfter(error);
      })
      .finally(() => {
        underWay.delete(delivery.id);
        if (running && timer === null) wakeIn(0);
      });
    underWay.set(delivery.id, { deviceId: delivery.deviceId, ended });
    return ended;
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const endpoint = endpoints.get(delivery.deviceId);
    if (endpoint === null || !isActive(endpoint)) {
      const url = endpoint?.url ?? "";
      await store.writer.commit([updateDelivery(delivery, url, { state: "disabled", nextAt: null })]);
      deps.onDelivery?.(delivery.deviceId, delivery.id);
      return;
    }
    const body = await postedBody(files, delivery);
    const made = await deliverer.attempt(endpoint, delivery.id, body);
    const number = delivery.attempts + 1;
    const { statements, reply, committed } = await effectsOf(delivery, made, endpoint);
    const progress = progressAfter(made, number, store.now(), random);
    const after: Delivery = { ...delivery, attempts: number, reply: reply ?? delivery.reply };
    const own = [
      updateDelivery(after, endpoint.url, progress),
      insertAttempt(store.box, delivery.id, number, made),
    ];
    const results = await store.writer.commit([...own, ...statements]);
    deps.onDelivery?.(delivery.deviceId, delivery.id);
    if (progress.state === "dead") deps.onDead?.();
    await committed(results.slice(own.length));
    if (progress.nextAt !== null) expect(progress.nextAt);
  }

  /** What follows from an attempt besides its own record: replies, or the end of the webhook. */
  async function effectsOf(delivery: Delivery, made: Attempt, endpoint: Endpoint): Promise<Effects> {
    const { deviceId, inboxId, chat, target } = delivery;
    if (made.verdict === "gone") return { ...endpoints.disabling(deviceId), reply: null };
    const nothing: Effects = { statements: [], reply: null, committed: () => undefined };
    // A replayed event that was answered before keeps its answer.
    if (made.parsed === null || (delivery.reply?.ids.length ?? 0) > 0) return nothing;
    const guard = async (): Promise<string | null> =>
      (await loopGuard.allows(deviceId, chat)) ? null : GUARDED;
    const { replies, reply } = await drafts.of(made.parsed, delivery, endpoint, guard);
    const held = heldBy(holds, made, delivery);
    if (replies.length === 0) return { ...nothing, statements: held, reply };
    const addressed = replies.map((item) => ({ ...item, chat: target.chat }));
    const rows = outbox.rows({ deviceId, inboxId, origin: "webhook", replies: addressed });
    return {
      statements: [...rows.statements, ...held],
      reply: { ...reply, ids: rows.waIds },
      async committed(results) {
        rows.release(results.slice(0, rows.statements.length));
        await loopGuard.count(deviceId, chat, replies.length);
      },
    };
  }

  return {
    expect,
    run,
    start() {
      running = true;
      wakeIn(0);
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      timer = null;
      await scan;
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
    },
  };
}
