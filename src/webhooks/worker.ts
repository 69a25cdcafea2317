import type { Logger } from "../log.ts";
import { giveWay } from "../model/give-way.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import type { Statement, Store } from "../store/store.ts";
import { postedBody, type EventFiles } from "./files.ts";
import type { Breakers } from "./breaker.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import type { DueRows } from "./due.ts";
import type { Webhook } from "./settings.ts";
import { isActive, type Registry } from "./registry.ts";
import type { LateReplies } from "./late-replies.ts";
import {
  deliveryOf,
  insertAttempt,
  updateDelivery,
  type Delivery,
  type DeliveryRow,
  type Progress,
} from "./rows.ts";
import { switchOffAfter, type SwitchedOff } from "./switch-off.ts";
import { createTimetable } from "./timetable.ts";
import { goesItsOwnWay, releaseNext } from "./waiting.ts";

interface RetryWorkerDeps {
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

/** Makes the attempts that no message's lane makes: retries, replays, and what waited for a breaker. */
export interface RetryWorker {
  /** Goes on where the last run of the gateway was. */
  start(): void;
  /** A row of this number with this time is being committed. */
  expect(deviceId: number, at: number): void;
  /** Looks for what of this number may go now. */
  wake(deviceId: number): void;
  /** Looks for what of any number may go now. */
  sweep(): void;
  /** One attempt now, of a row that is committed. Never throws; the same delivery is never in flight twice. */
  run(delivery: Delivery): Promise<void>;
  /** Begins nothing new; resolves when no attempt is in flight. */
  stop(): Promise<void>;
}

/** An attempt that tries whether the webhook is back. */
interface Probe {
  /** The delivery's own time has not come: it is as before when the attempt fails. */
  ahead: boolean;
}

const MOST_AT_ONCE = 32;
/** Numbers that are looked at before everybody else has a turn. */
const NUMBERS_AT_ONCE = 20;
/** Rows are also looked for this often: an expected row may be committed later than expected. */
const SWEEP_MS = MINUTE_MS;
/** While a breaker's pause is over and nothing of its number is there to be tried. */
const SWEEP_FOR_PROBES_MS = 5 * SECOND_MS;
const PAUSE_AFTER_TROUBLE_MS = 5 * SECOND_MS;

/** Makes all attempts that are not the first one in a lane: retries, replays, and what a crash cut off. */
export function createRetryWorker(deps: RetryWorkerDeps): RetryWorker {
  const { store, log, registry, breakers, due, deliverer, files, lateReplies } = deps;
  const { time } = store;
  const inFlight = new Map<string, { deviceId: number; chat: string; ended: Promise<void> }>();
  const timetable = createTimetable();
  let cancel: Cancel | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;
  let troubleUntil = Number.NEGATIVE_INFINITY;
  let sweepsAt = Number.NEGATIVE_INFINITY;
  let running = false;
  let scan = Promise.resolve();

  function expect(deviceId: number, at: number): void {
    timetable.expect(deviceId, at);
    const pause = Math.max(0, at - store.now());
    if (running && time.monotonic() + pause < wakesAt) wakeIn(pause);
  }

  function wakeIn(pauseMs: number): void {
    cancel?.();
    const pause = Math.min(Math.max(0, pauseMs, troubleUntil - time.monotonic()), SWEEP_MS);
    wakesAt = time.monotonic() + pause;
    cancel = time.after(pause, () => {
      cancel = null;
      wakesAt = Number.POSITIVE_INFINITY;
      scan = scan.then(beginDue).catch(pauseAfter);
    });
  }

  function pauseAfter(error: unknown): void {
    log.error({ err: error }, "webhook retries pause: the database could not be read or written");
    // Whatever else wakes the worker: nothing is posted again and again whose outcome cannot be kept.
    troubleUntil = time.monotonic() + PAUSE_AFTER_TROUBLE_MS;
    if (running) wakeIn(0);
  }

  async function beginDue(): Promise<void> {
    if (!running) return;
    await lookAtAll();
    const idleProbes = await beginProbes();
    for (const [index, deviceId] of timetable.due(store.now()).entries()) {
      // Whatever ends wakes the worker again.
      if (!running || inFlight.size >= MOST_AT_ONCE) return;
      if (index % NUMBERS_AT_ONCE === NUMBERS_AT_ONCE - 1) await giveWay();
      await visit(deviceId);
    }
    await endCatchingUp();
    const next = Math.min(timetable.next(hasSlots), breakers.open().nextProbeAt);
    const latest = store.now() + (idleProbes ? SWEEP_FOR_PROBES_MS : SWEEP_MS);
    if (running && cancel === null) wakeIn(Math.min(next, latest) - store.now());
  }

  async function lookAtAll(): Promise<void> {
    if (time.monotonic() < sweepsAt) return;
    for (const deviceId of await due.numbers()) timetable.expect(deviceId, 0);
    sweepsAt = time.monotonic() + SWEEP_MS;
  }

  /** Begins what may go of one number, and notes when the next of it may. */
  async function visit(deviceId: number): Promise<void> {
    timetable.serve(deviceId);
    const webhook = registry.get(deviceId);
    if (webhook === null || !isActive(webhook)) return registry.endWaiting(deviceId);
    const { paused, firstRetries } = breakers.open();
    const now = store.now();
    const retriesUntil = firstRetries[deviceId];
    const most = Math.min(slotsLeft(deviceId), MOST_AT_ONCE - inFlight.size);
    // Whoever closes the breaker, and whatever ends, wakes the worker.
    if (paused.includes(deviceId) || most <= 0) return;
    const which = retriesUntil === undefined ? "all" : "first-retries";
    const until = Math.min(now, retriesUntil ?? now);
    const found = await due.due(deviceId, busyChats(deviceId), until, most, which);
    for (const row of found) {
      const delivery = await opened(row);
      if (delivery && mayBegin(delivery)) void run(delivery);
    }
    // What is due and not found waits for a slot or for its chat: whatever ends wakes the worker.
    const next = found.length === most ? now : await due.nextAt(deviceId, now);
    if (next !== null) timetable.expect(deviceId, next);
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
      void run(delivery, { ahead: row.nextAt! > store.now() }).finally(ended);
    }
    return idle;
  }

  /** A row that is damaged must not keep all others from going out. */
  async function opened(row: DeliveryRow): Promise<Delivery | null> {
    try {
      return deliveryOf(row, store.box);
    } catch (error) {
      const { id, deviceId } = row;
      log.error(
        { err: error, device: deviceId, delivery: id },
        "a delivery cannot be read from the database and is given up",
      );
      await store.writer.commit([
        { sql: "update deliveries set state = 'dead', next_at = null where id = ?", args: [id] },
        releaseNext(row, store.now()),
      ]);
      deps.onDead?.();
      return null;
    }
  }

  async function endCatchingUp(): Promise<void> {
    for (const deviceId of breakers.catchingUp())
      if (!(await due.isBehind(deviceId, store.now()))) breakers.caughtUp(deviceId);
  }

  const ofNumber = (deviceId: number) => [...inFlight.values()].filter((item) => item.deviceId === deviceId);
  const busyChats = (deviceId: number): string[] => ofNumber(deviceId).map(({ chat }) => chat);
  const slotsLeft = (deviceId: number): number => breakers.slots(deviceId) - ofNumber(deviceId).length;
  const hasSlots = (deviceId: number): boolean => slotsLeft(deviceId) > 0;

  function mayBegin({ id, deviceId, chat }: Delivery): boolean {
    return !inFlight.has(id) && hasSlots(deviceId) && !busyChats(deviceId).includes(chat);
  }

  function run(delivery: Delivery, probe: Probe | null = null): Promise<void> {
    const known = inFlight.get(delivery.id);
    if (known) return known.ended;
    const { id, deviceId, chat } = delivery;
    const ended = attempt(delivery, probe)
      .catch((error: unknown) => {
        // Cut off by the end of the gateway: it does not count, and is made again at the next start.
        if (running) pauseAfter(error);
      })
      .finally(() => {
        inFlight.delete(id);
        // A slot is free, and the next of its chat may go.
        expect(deviceId, store.now());
      });
    inFlight.set(id, { deviceId, chat, ended });
    return ended;
  }

  async function attempt(delivery: Delivery, probe: Probe | null): Promise<void> {
    const webhook = registry.get(delivery.deviceId);
    if (webhook === null || !isActive(webhook)) {
      const url = webhook?.url ?? "";
      const ended = { state: "disabled", nextAt: null } as const;
      await store.writer.commit([updateDelivery(store.box, delivery, url, ended)]);
      deps.onDelivery?.(delivery.deviceId, delivery.id);
      return;
    }
    const body = await postedBody(files, delivery);
    const made = await deliverer.attempt(webhook, delivery.id, body);
    const switchedOff = switchOffAfter(deps, webhook, made, probe ? "probe" : undefined);
    if (probe?.ahead && made.result !== "accepted" && switchedOff === null) return;
    await record(delivery, made, webhook, switchedOff);
  }

  /** Commits what came of an attempt, and what follows from it. */
  async function record(
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
      updateDelivery(store.box, after, webhook.url, progress),
      insertAttempt(store.box, delivery.id, number, made),
      ...letGo(after, progress.state),
    ];
    const results = await store.writer.commit([...own, ...statements]);
    deps.onDelivery?.(delivery.deviceId, delivery.id);
    if (progress.state === "dead") deps.onDead?.();
    await committed(results.slice(own.length));
    if (progress.nextAt !== null) expect(delivery.deviceId, progress.nextAt);
  }

  /** What is held behind a delivery may go, unless the webhook is away and both wait for it. */
  function letGo(delivery: Delivery, state: Progress["state"]): Statement[] {
    const waits = state === "retrying" && !goesItsOwnWay(delivery.attempts);
    return waits && breakers.isOpen(delivery.deviceId) ? [] : [releaseNext(delivery, store.now())];
  }

  return {
    expect,
    run: (delivery) => run(delivery),
    wake: (deviceId) => expect(deviceId, 0),
    sweep() {
      sweepsAt = Number.NEGATIVE_INFINITY;
      if (running) wakeIn(0);
    },
    start() {
      running = true;
      wakeIn(0);
    },
    async stop() {
      running = false;
      cancel?.();
      cancel = null;
      await scan;
      await Promise.all([...inFlight.values()].map(({ ended }) => ended));
    },
  };
}
