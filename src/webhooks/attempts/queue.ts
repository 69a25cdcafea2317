import { SECOND_MS, type Time } from "../../model/time.ts";
import { NotOwner } from "../../store/errors.ts";
import { createAlarm } from "./alarm.ts";
import { createAttempts, type AttemptsDeps, type Probe } from "./attempts.ts";
import type { DueRows } from "./due.ts";
import { isActive, namesOf, type Target } from "../receiver.ts";
import { deliveryOf, type Delivery, type DeliveryRow } from "../rows.ts";
import type { AttemptShare } from "./shares.ts";
import { releaseNext } from "./waiting.ts";

interface DeliveryQueueDeps extends AttemptsDeps {
  target: Target;
  due: DueRows;
  share: AttemptShare;
  /** A commit has shown that another process has the number; called once or more. */
  onLost(): void;
}

/** Makes the attempts for one receiver that no message's lane makes: retries, replays, and what waited for a breaker. */
export interface DeliveryQueue {
  /** Goes on where the rows are. */
  start(): void;
  /** A row with this time is being committed, Unix milliseconds. */
  expect(at: number): void;
  /** Looks for what may go now. */
  wake(): void;
  /** One attempt now, of a row that is committed. Never throws; the same delivery is never in flight twice. */
  run(delivery: Delivery): Promise<void>;
  /** Resolves when the next attempt in this chat has ended. False: none has within `ms`, or the queue stops. Never rejects. */
  attempted(chat: string, ms: number): Promise<boolean>;
  /** Begins nothing new; resolves when no attempt is in flight. */
  stop(): Promise<void>;
}

/** While a breaker's pause is over and nothing of its number is there to be tried. */
const LOOK_FOR_PROBES_MS = 5 * SECOND_MS;
const PAUSE_AFTER_TROUBLE_MS = 5 * SECOND_MS;
const NEVER = Number.POSITIVE_INFINITY;

/** The queue of one receiver: all attempts that are not the first one in a lane. It lies in the table, whole. */
export function createDeliveryQueue(deps: DeliveryQueueDeps): DeliveryQueue {
  const { target, log, receiver, breaker, due, share, now } = deps;
  const alarm = createAlarm(deps.store.time, () => {
    scan = scan.then(look).catch(pauseAfter);
  });
  /** When the next row may go, as far as is known here. */
  let dueAt = NEVER;
  let running = false;
  let stopped = false;
  let scan = Promise.resolve();
  const runner = createRunner(deps, { isRunning: () => running, expect, failed: pauseAfter });

  function expect(at: number): void {
    dueAt = Math.min(dueAt, at);
    if (running) alarm.by(at - now());
  }

  function pauseAfter(error: unknown): void {
    if (!running) return;
    if (error instanceof NotOwner) return deps.onLost();
    log.error(
      { err: error, ...namesOf(target) },
      "webhook retries pause: could not read or write the database",
    );
    // Whatever else wakes the queue: nothing is posted again and again whose outcome cannot be kept.
    alarm.notWithin(PAUSE_AFTER_TROUBLE_MS);
    expect(0);
  }

  async function look(): Promise<void> {
    if (!running) return;
    const probed = await runner.probe();
    if (dueAt <= now() && share.slotsLeft() > 0) await beginDue();
    if (breaker.isCatchingUp() && !(await due.isBehind(target, now()))) breaker.caughtUp();
    plan(probed);
  }

  /** Whatever is due and finds no slot waits for one. */
  function plan(probed: Probed): void {
    if (!running) return;
    const hasRoom = share.slotsLeft() > 0;
    if (!hasRoom && dueAt <= now()) share.whenRoom(() => alarm.by(0));
    const nextProbe = { none: breaker.probeAt() ?? NEVER, begun: NEVER, idle: now() + LOOK_FOR_PROBES_MS };
    alarm.by(Math.min(hasRoom ? dueAt : NEVER, nextProbe[probed]) - now());
    share.passOn();
  }

  /** Begins what may go, and notes when the next may. */
  async function beginDue(): Promise<void> {
    dueAt = NEVER;
    const asked = receiver.get();
    if (asked === null || !isActive(asked)) return receiver.endForgotten();
    const next = await runner.beginDue();
    if (next !== null) dueAt = Math.min(dueAt, next);
  }

  return {
    expect,
    run: (delivery) => runner.run(delivery),
    attempted: runner.attempted,
    wake: () => expect(0),
    start() {
      if (stopped) return;
      running = true;
      alarm.by(dueAt - now());
    },
    async stop() {
      stopped = true;
      running = false;
      alarm.stop();
      runner.unwatch();
      share.leave();
      await scan;
      await share.idle();
    },
  };
}

/** What a runner needs of its queue. */
interface Around {
  isRunning(): boolean;
  /** Something may go at this time, Unix milliseconds. */
  expect(at: number): void;
  failed(error: unknown): void;
}

/** Takes rows out of the table and makes their attempts. */
function createRunner(deps: DeliveryQueueDeps, { isRunning, expect, failed }: Around) {
  const { target, breaker, due, share, now } = deps;
  const attempts = createAttempts(deps);
  const watched = createWatchedChats(deps.store.time);

  /** @returns when the next of what waits may go, Unix milliseconds; null: nobody knows of any */
  async function beginDue(): Promise<number | null> {
    const at = now();
    const lets = breaker.lets();
    // Whoever closes the breaker wakes the queue.
    if (lets === "nothing") return null;
    const most = share.slotsLeft();
    const [which, until] =
      lets === "all" ? (["all", at] as const) : (["first-retries", Math.min(at, lets.firstRetries)] as const);
    const found = await due.due(target, share.busyChats(), until, most, which);
    const begun = await begin(found);
    // What is due and not found waits for its chat: whatever ends wakes the queue.
    return begun === most || begun < found.length ? at : due.nextAt(target, at);
  }

  /** @returns how many have begun */
  async function begin(found: DeliveryRow[]): Promise<number> {
    const opening = await Promise.all(found.map((row) => opened(deps, row)));
    let begun = 0;
    for (const delivery of opening) {
      if (delivery === null || !isRunning() || !share.mayBegin(delivery)) continue;
      void run(delivery);
      begun++;
    }
    return begun;
  }

  /** `idle`: it may be tried, and nothing waits with which. */
  async function probe(): Promise<Probed> {
    const at = breaker.probeAt();
    if (at === null || at > now()) return "none";
    const row = await due.firstOf(target);
    if (row === null) return "idle";
    const delivery = await opened(deps, row);
    if (delivery !== null && isRunning() && share.of(delivery.id) === undefined) {
      const { ended } = breaker.probe();
      void run(delivery, { ahead: row.nextAt! > now() }).finally(ended);
    }
    return "begun";
  }

  function run(delivery: Delivery, probed: Probe | null = null): Promise<void> {
    const known = share.of(delivery.id);
    if (known) return known;
    const ended = attempts
      .make(delivery, probed)
      .then((next) => (next === null ? undefined : expect(next)))
      // Cut off by the end of the number: it does not count, and is made again by whoever opens it next.
      .catch(failed)
      .finally(() => {
        share.ended(delivery.id);
        watched.ended(delivery.chat);
        // A slot is free, and the next of its chat may go.
        expect(now());
      });
    share.begun(delivery, ended);
    return ended;
  }

  return { beginDue, probe, run, attempted: watched.next, unwatch: watched.stop };
}

/** Chats whose lanes wait for the end of an attempt. */
function createWatchedChats({ within }: Pick<Time, "within">) {
  const waiting = new Map<string, Set<(isOver: boolean) => void>>();
  let stopped = false;

  function tell(chat: string, hasEnded: boolean): void {
    for (const go of waiting.get(chat) ?? []) go(hasEnded);
  }

  return {
    ended: (chat: string): void => tell(chat, true),
    async next(chat: string, ms: number): Promise<boolean> {
      if (stopped) return false;
      const waiters = waiting.get(chat) ?? new Set();
      waiting.set(chat, waiters);
      let hasEnded = false;
      let go!: (isOver: boolean) => void;
      const told = new Promise<boolean>((resolve) => waiters.add((go = resolve)));
      await within(
        ms,
        told.then((isOver) => (hasEnded = isOver)),
      );
      waiters.delete(go);
      if (waiters.size === 0) waiting.delete(chat);
      return hasEnded;
    },
    /** The queue stops: nobody is to wait for it. */
    stop(): void {
      stopped = true;
      for (const chat of waiting.keys()) tell(chat, false);
    },
  };
}

/** A row that is damaged must not keep all others from going out. */
async function opened(
  { target, store, log, now, observe }: DeliveryQueueDeps,
  row: DeliveryRow,
): Promise<Delivery | null> {
  try {
    return deliveryOf(row, store.box);
  } catch (error) {
    const { id } = row;
    const { deviceId } = target;
    log.error(
      { err: error, ...namesOf(target), delivery: id },
      "cannot read a delivery from the database; giving it up",
    );
    const dead = { sql: "update deliveries set state = 'dead', next_at = null where id = ?", args: [id] };
    await store.writer.commit([dead, releaseNext(row, now())], { owning: deviceId });
    observe?.({ type: "deliveryDead", deviceId });
    return null;
  }
}

type Probed = "none" | "begun" | "idle";
