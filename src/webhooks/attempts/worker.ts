import { giveWay } from "../../model/give-way.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS, type Cancel, type Time } from "../../model/time.ts";
import { createAttempts, type AttemptsDeps, type Probe } from "./attempts.ts";
import type { DueRows } from "./due.ts";
import { isActive } from "../registry.ts";
import { createRunningAttempts } from "./running-attempts.ts";
import { deliveryOf, type Delivery, type DeliveryRow } from "../rows.ts";
import type { SharedWork } from "./shared-work.ts";
import { createTimetable, type Timetable } from "./timetable.ts";
import { releaseNext } from "./waiting.ts";

interface RetryWorkerDeps extends Omit<AttemptsDeps, "claims"> {
  due: DueRows;
  /** Null: no other process makes attempts. */
  shared: SharedWork | null;
  /** Whose a number is; null when nobody knows. */
  accountOf(deviceId: number): string | null;
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

const NONE: ReadonlySet<string> = new Set();
/** Numbers that are looked at before everybody else has a turn. */
const NUMBERS_AT_ONCE = 20;
/** Rows are also looked for this often: an expected row may be committed later than expected. */
const SWEEP_MS = MINUTE_MS;
/** While a breaker's pause is over and nothing of its number is there to be tried. */
const SWEEP_FOR_PROBES_MS = 5 * SECOND_MS;
const PAUSE_AFTER_TROUBLE_MS = 5 * SECOND_MS;
/** No timer is set for longer; who is woken too early looks when the next is due. */
const LONGEST_PAUSE_MS = DAY_MS;

/** Makes all attempts that are not the first one in a lane: retries, replays, and what a crash cut off. */
export function createRetryWorker(deps: RetryWorkerDeps): RetryWorker {
  const { store, log, registry, breakers, due, shared, now } = deps;
  const { time } = store;
  const attempts = createAttempts({ ...deps, claims: shared?.claims ?? null });
  const inFlight = createRunningAttempts({ slots: breakers.slots, accountOf: deps.accountOf });
  const timetable = createTimetable();
  const everything = createLookAtAll(due, timetable, shared === null);
  const alarm = createAlarm(time, () => {
    scan = scan.then(beginDue).catch(pauseAfter);
  });
  let stopSweeping: Cancel | null = null;
  let running = false;
  let scan = Promise.resolve();

  function expect(deviceId: number, at: number): void {
    if (shared === null || shared.isSoon(at)) return expectHere(deviceId, at);
    void shared.announce(deviceId, at).then((told) => (told ? undefined : expectHere(deviceId, at)));
  }

  /** This process looks itself. */
  function expectHere(deviceId: number, at: number): void {
    timetable.expect(deviceId, at);
    if (running) alarm.by(at - now());
  }

  function pauseAfter(error: unknown): void {
    log.error({ err: error }, "webhook retries pause: could not read or write the database");
    // Whatever else wakes the worker: nothing is posted again and again whose outcome cannot be kept.
    alarm.notWithin(PAUSE_AFTER_TROUBLE_MS);
    if (running) alarm.by(0);
  }

  async function beginDue(): Promise<void> {
    if (!running) return;
    await everything.look();
    const probes = await beginProbes();
    for (const [index, deviceId] of timetable.due(now()).entries()) {
      if (!running) return;
      if (index % NUMBERS_AT_ONCE === NUMBERS_AT_ONCE - 1) await giveWay();
      // It keeps its time: whatever ends wakes the worker again.
      if (inFlight.slotsLeft(deviceId) > 0) await visit(deviceId);
    }
    await endCatchingUp();
    const latest = probes.idle ? now() + SWEEP_FOR_PROBES_MS : Number.POSITIVE_INFINITY;
    const next = Math.min(
      timetable.next((deviceId) => inFlight.slotsLeft(deviceId) > 0),
      nextProbeAt(probes.looked),
      latest,
    );
    if (running) alarm.by(next - now());
  }

  /** Now, when a pause has ended since the worker looked for those that had: no timer is left that would say so. */
  function nextProbeAt(looked: ReadonlySet<number>): number {
    const { toProbe, nextProbeAt: at } = breakers.open();
    return toProbe.some((deviceId) => !looked.has(deviceId)) ? now() : at;
  }

  function sweep(): void {
    if (shared === null) everything.ask();
    if (running) alarm.by(0);
  }

  /** For who was told that it is time: resolves when what has begun has ended. */
  async function visitNow(deviceId: number): Promise<void> {
    // Somebody else is told: this process ends.
    if (!running) return void (await shared?.announce(deviceId, now() + SECOND_MS));
    const visited = scan.then(() => (running ? visit(deviceId) : []));
    scan = visited.then(() => undefined, pauseAfter);
    const begun = await visited.catch(() => []);
    if (running && breakers.open().toProbe.length > 0) alarm.by(0);
    await Promise.all(begun);
  }

  /** Begins what may go of one number, and notes when the next of it may. @returns attempts that have begun */
  async function visit(deviceId: number): Promise<Promise<void>[]> {
    timetable.serve(deviceId);
    const webhook = registry.get(deviceId);
    const active = webhook !== null && isActive(webhook);
    const look = (await shared?.claims.look(deviceId)) ?? { now: now(), busy: [], active, health: null };
    if (!active || !look.active) {
      // When they differ, somebody has just said something else, and others have not heard of it.
      if (!active && !look.active) await registry.endWaiting(deviceId);
      return [];
    }
    if (look.health !== null) breakers.look(deviceId, look.health);
    const { paused, firstRetries } = breakers.open();
    const retriesUntil = firstRetries[deviceId];
    const most = inFlight.slotsLeft(deviceId);
    // Whoever closes the breaker, and whatever ends, wakes the worker.
    if (paused.includes(deviceId) || most <= 0) return [];
    const which = retriesUntil === undefined ? "all" : "first-retries";
    const until = Math.min(look.now, retriesUntil ?? look.now);
    const busy = [...inFlight.busyChats(deviceId), ...look.busy];
    const found = await due.due(deviceId, busy, until, most, which);
    const begun = await begin(found, breakers.slots(deviceId));
    // What is due and not found waits for a slot or for its chat: whatever ends wakes the worker.
    const next = begun.length === most ? look.now : await due.nextAt(deviceId, look.now);
    if (next !== null) expectNext(deviceId, next);
    return begun;
  }

  /** As long as this process is at it, it looks at its own timetable first. */
  function expectNext(deviceId: number, at: number): void {
    if (shared === null) timetable.expect(deviceId, at);
    else expect(deviceId, at);
  }

  async function begin(found: DeliveryRow[], slots: number): Promise<Promise<void>[]> {
    const opening = await Promise.all(found.map(opened));
    const rows = found.filter((_, index) => opening[index] !== null);
    const ours = await shared?.claims.take(rows, slots, "due");
    const begun: Promise<void>[] = [];
    for (const delivery of opening) {
      if (delivery === null || !(ours?.has(delivery.id) ?? true)) continue;
      if (inFlight.mayBegin(delivery)) begun.push(run(delivery));
      else if (inFlight.of(delivery.id) === undefined) void shared?.claims.release(delivery.id);
    }
    return begun;
  }

  /** @returns the numbers that may be tried, and whether one of them has nothing that waits */
  async function beginProbes(): Promise<{ looked: ReadonlySet<number>; idle: boolean }> {
    let idle = false;
    const looked = new Set(breakers.open().toProbe);
    for (const deviceId of looked) {
      const row = await due.firstOf(deviceId);
      if (row === null) idle = true;
      const delivery = row && (await opened(row));
      if (!row || !delivery || !running || inFlight.of(delivery.id)) continue;
      const { ended } = breakers.probe(deviceId);
      const ours = await shared?.claims.take([row], Number.MAX_SAFE_INTEGER, "any").catch(() => NONE);
      if (ours?.has(row.id) ?? true) void run(delivery, { ahead: row.nextAt! > now() }).finally(ended);
      else {
        // Somebody else's, or not as it was read: it is looked at again.
        ended();
        idle = true;
      }
    }
    return { looked, idle };
  }

  /** A row that is damaged must not keep all others from going out. */
  async function opened(row: DeliveryRow): Promise<Delivery | null> {
    try {
      return deliveryOf(row, store.box);
    } catch (error) {
      const { id, deviceId } = row;
      log.error(
        { err: error, device: deviceId, delivery: id },
        "cannot read a delivery from the database; giving it up",
      );
      await store.writer.commit([
        { sql: "update deliveries set state = 'dead', next_at = null where id = ?", args: [id] },
        releaseNext(row, now()),
      ]);
      deps.onDead?.();
      return null;
    }
  }

  async function endCatchingUp(): Promise<void> {
    for (const deviceId of breakers.catchingUp())
      if (!(await due.isBehind(deviceId, now()))) breakers.caughtUp(deviceId);
  }

  function run(delivery: Delivery, probe: Probe | null = null): Promise<void> {
    const known = inFlight.of(delivery.id);
    if (known) return known;
    const { id, deviceId } = delivery;
    const ended = attempts
      .make(delivery, probe)
      .then((next) => (next === null ? undefined : expect(deviceId, next)))
      .catch((error: unknown) => {
        // Cut off by the end of the gateway: it does not count, and is made again at the next start.
        if (running) pauseAfter(error);
      })
      .then(() => shared?.claims.release(id))
      .finally(() => {
        inFlight.ended(id);
        // A slot is free, and the next of its chat may go.
        if (running || shared === null) expect(deviceId, now());
        else void shared.announce(deviceId, now());
      });
    inFlight.begun(delivery, ended);
    return ended;
  }

  return {
    expect,
    run: (delivery) => run(delivery),
    wake: (deviceId) => expect(deviceId, 0),
    sweep,
    start() {
      running = true;
      stopSweeping =
        shared?.start({ visit: visitNow, expect: (deviceId) => expectHere(deviceId, 0) }) ??
        time.every(SWEEP_MS, sweep);
      alarm.by(0);
    },
    async stop() {
      running = false;
      stopSweeping?.();
      alarm.stop();
      await scan;
      await inFlight.idle();
      shared?.claims.stop();
    },
  };
}

/** A look at all numbers for which anything waits, made when somebody has asked for one. @param fromTheStart it is asked for */
function createLookAtAll(
  due: Pick<DueRows, "numbers">,
  timetable: Pick<Timetable, "expect">,
  fromTheStart: boolean,
) {
  let asked = fromTheStart;
  return {
    ask: () => void (asked = true),
    async look(): Promise<void> {
      if (!asked) return;
      // Before it reads: who asks meanwhile may mean what came after.
      asked = false;
      try {
        for (const deviceId of await due.numbers()) timetable.expect(deviceId, 0);
      } catch (error) {
        asked = true;
        throw error;
      }
    },
  };
}

/** Wakes the worker once at the earliest of the times that it is asked for. */
function createAlarm({ after, monotonic }: Pick<Time, "after" | "monotonic">, onWake: () => void) {
  let planned: { at: number; cancel: Cancel } | null = null;
  let troubleUntil = Number.NEGATIVE_INFINITY;

  function set(at: number): void {
    planned?.cancel();
    const cancel = after(Math.min(Math.max(0, at - monotonic()), LONGEST_PAUSE_MS), () => {
      planned = null;
      onWake();
    });
    planned = { at, cancel };
  }

  return {
    /** In so many milliseconds at the latest: an earlier time that is planned stays. Infinity: there is no need. */
    by(ms: number): void {
      const at = Math.max(monotonic() + Math.max(0, ms), troubleUntil);
      if (at < (planned?.at ?? Infinity)) set(at);
    },
    /** Whatever is asked for, it does not wake before so many milliseconds have passed. */
    notWithin(ms: number): void {
      troubleUntil = monotonic() + ms;
      if (planned !== null && planned.at < troubleUntil) set(troubleUntil);
    },
    stop(): void {
      planned?.cancel();
      planned = null;
    },
  };
}
