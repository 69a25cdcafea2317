import type { Row } from "@libsql/client";
import type { Logger } from "pino";
import type { Store } from "../store/store.ts";
import { postedBody, type EventFiles } from "./files.ts";
import type { Breakers } from "./breaker.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import { chatId, type Busy, type DueRows } from "./due.ts";
import type { Webhook } from "./settings.ts";
import { isActive, type Registry } from "./registry.ts";
import type { LateReplies } from "./late-replies.ts";
import { deliveryOf, insertAttempt, updateDelivery, type Delivery } from "./rows.ts";
import { switchOffAfter, type SwitchedOff } from "./switch-off.ts";

export interface RetryWorkerDeps {
  store: Store;
  log: Logger;
  registry: Registry;
  breakers: Breakers;
  due: DueRows;
  deliverer: Deliverer;
  files: EventFiles;
  lateReplies: LateReplies;
  random: () => number;
  /** A delivery is in another state; called after the commit. */
  onDelivery?: (deviceId: number, id: string) => void;
  /** A delivery is given up. */
  onDead?: () => void;
  /** The webhook was switched off. */
  onDisabled?: (deviceId: number) => void;
}

export interface RetryWorker {
  /** Goes on where the last run of the gateway was. */
  start(): void;
  /** A row with this time is being committed. */
  expect(at: number): void;
  /** Looks for what may go now. */
  wake(): void;
  /** One attempt now, of a row that is committed. Never throws; the same delivery is never under way twice. */
  run(delivery: Delivery): Promise<void>;
  /** Begins nothing new; resolves when no attempt is under way. */
  stop(): Promise<void>;
}

/** An attempt that tries whether the webhook is back. */
interface Probe {
  /** The delivery's own time has not come: it is as before when the attempt fails. */
  ahead: boolean;
}

const MOST_AT_ONCE = 32;
/** Rows are also looked for this often: an expected row may be committed later than expected. */
const SWEEP_MS = 60_000;
/** While a breaker's pause is over and nothing of its number is there to be tried. */
const SWEEP_FOR_PROBES_MS = 5_000;
const PAUSE_AFTER_TROUBLE_MS = 5000;

/** Makes all attempts that are not the first one in a lane: retries, replays, and what a crash cut off. */
export function createRetryWorker(deps: RetryWorkerDeps): RetryWorker {
  const { store, log, registry, breakers, due, deliverer, files, lateReplies } = deps;
  const inFlight = new Map<string, { deviceId: number; chat: string; ended: Promise<void> }>();
  let timer: NodeJS.Timeout | null = null;
  /** By the clock that nobody sets. */
  let wakesAt = Number.POSITIVE_INFINITY;
  let troubleUntil = Number.NEGATIVE_INFINITY;
  let running = false;
  let scan = Promise.resolve();

  function expect(at: number): void {
    const pause = Math.max(0, at - store.now());
    if (running && performance.now() + pause < wakesAt) wakeIn(pause);
  }

  function wakeIn(pauseMs: number): void {
    if (timer) clearTimeout(timer);
    const pause = Math.min(Math.max(0, pauseMs, troubleUntil - performance.now()), SWEEP_MS);
    wakesAt = performance.now() + pause;
    timer = setTimeout(() => {
      timer = null;
      wakesAt = Number.POSITIVE_INFINITY;
      scan = scan.then(beginDue).catch(pauseAfter);
    }, pause);
    timer.unref();
  }

  function pauseAfter(error: unknown): void {
    log.error({ error }, "webhook retries pause: the database could not be read or written");
    // Whatever else wakes the worker: nothing is posted again and again whose outcome cannot be kept.
    troubleUntil = performance.now() + PAUSE_AFTER_TROUBLE_MS;
    if (running) wakeIn(0);
  }

  async function beginDue(): Promise<void> {
    if (!running) return;
    const idleProbes = await beginProbes();
    const free = MOST_AT_ONCE - inFlight.size;
    // Whatever ends wakes the worker again.
    if (free <= 0) return;
    for (const row of await due.due(busy(), free)) {
      const delivery = await opened(row);
      if (delivery && mayBegin(delivery)) void run(delivery);
    }
    await endCatchingUp();
    const now = busy();
    const next = Math.min((await due.nextAt(now)) ?? Infinity, now.open.nextProbeAt);
    const latest = store.now() + (idleProbes ? SWEEP_FOR_PROBES_MS : SWEEP_MS);
    if (running && timer === null) wakeIn(Math.min(next, latest) - store.now());
  }

  /** @returns whether a number may be tried and has nothing that waits */
  async function beginProbes(): Promise<boolean> {
    let idle = false;
    for (const deviceId of breakers.open().toProbe) {
      const row = await due.firstOf(deviceId);
      if (row === null) idle = true;
      const delivery = row && (await opened(row));
      if (!row || !delivery || !running || inFlight.has(delivery.id)) continue;
      const { ended } = breakers.probe(deviceId);
      void run(delivery, { ahead: Number(row.next_at) > store.now() }).finally(ended);
    }
    return idle;
  }

  /** A row that is damaged must not keep all others from going out. */
  async function opened(row: Row): Promise<Delivery | null> {
    try {
      return deliveryOf(row, store.box);
    } catch {
      const id = String(row.id);
      log.error({ delivery: id }, "a delivery cannot be read from the database and is given up");
      await store.writer.commit([
        { sql: "update deliveries set state = 'dead', next_at = null where id = ?", args: [id] },
      ]);
      deps.onDead?.();
      return null;
    }
  }

  async function endCatchingUp(): Promise<void> {
    const numbers = registry.ids().filter((deviceId) => breakers.isCatchingUp(deviceId));
    if (numbers.length === 0) return;
    const behind = new Set(await due.numbersDue(numbers));
    for (const deviceId of numbers) if (!behind.has(deviceId)) breakers.caughtUp(deviceId);
  }

  function busy(): Busy {
    const items = [...inFlight.values()];
    const numbers = new Set(items.map(({ deviceId }) => deviceId));
    return {
      chats: items.map(({ deviceId, chat }) => chatId(deviceId, chat)),
      full: [...numbers].filter((deviceId) => !slotsLeft(deviceId)),
      open: breakers.open(),
    };
  }

  function mayBegin({ id, deviceId, chat }: Delivery): boolean {
    if (inFlight.has(id) || !slotsLeft(deviceId)) return false;
    return ![...inFlight.values()].some((item) => item.deviceId === deviceId && item.chat === chat);
  }

  function slotsLeft(deviceId: number): boolean {
    const taken = [...inFlight.values()].filter((item) => item.deviceId === deviceId).length;
    return taken < breakers.slots(deviceId);
  }

  function run(delivery: Delivery, probe: Probe | null = null): Promise<void> {
    const known = inFlight.get(delivery.id);
    if (known) return known.ended;
    const ended = attempt(delivery, probe)
      .catch((error: unknown) => {
        // Cut off by the end of the gateway: it does not count, and is made again at the next start.
        if (running) pauseAfter(error);
      })
      .finally(() => {
        inFlight.delete(delivery.id);
        // A slot is free, and the next of its chat may go.
        expect(store.now());
      });
    const { deviceId, chat } = delivery;
    inFlight.set(delivery.id, { deviceId, chat, ended });
    return ended;
  }

  async function attempt(delivery: Delivery, probe: Probe | null): Promise<void> {
    const webhook = registry.get(delivery.deviceId);
    if (webhook === null || !isActive(webhook)) {
      const url = webhook?.url ?? "";
      await store.writer.commit([updateDelivery(delivery, url, { state: "disabled", nextAt: null })]);
      deps.onDelivery?.(delivery.deviceId, delivery.id);
      return;
    }
    const body = await postedBody(files, delivery);
    const made = await deliverer.attempt(webhook, delivery.id, body);
    const switchedOff = switchOffAfter(deps, webhook, made, probe ? "probe" : undefined);
    if (probe?.ahead && made.result !== "accepted" && switchedOff === null) return;
    await conclude(delivery, made, webhook, switchedOff);
  }

  async function conclude(
    delivery: Delivery,
    made: Attempt,
    webhook: Webhook,
    switchedOff: SwitchedOff | null,
  ): Promise<void> {
    const number = delivery.attempts + 1;
    const effects = switchedOff
      ? { ...switchedOff, reply: null }
      : await lateReplies.to(delivery, made, webhook);
    const { statements, reply, committed } = effects;
    const progress = progressAfter(made, number, store.now(), deps.random);
    const after: Delivery = { ...delivery, attempts: number, reply: reply ?? delivery.reply };
    const own = [
      updateDelivery(after, webhook.url, progress),
      insertAttempt(store.box, delivery.id, number, made),
    ];
    const results = await store.writer.commit([...own, ...statements]);
    deps.onDelivery?.(delivery.deviceId, delivery.id);
    if (progress.state === "dead") deps.onDead?.();
    await committed(results.slice(own.length));
    if (progress.nextAt !== null) expect(progress.nextAt);
  }

  return {
    expect,
    run: (delivery) => run(delivery),
    wake() {
      if (running) wakeIn(0);
    },
    start() {
      running = true;
      wakeIn(0);
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      timer = null;
      await scan;
      await Promise.all([...inFlight.values()].map(({ ended }) => ended));
    },
  };
}
