import type { Logger } from "../log.ts";
import { webhooks } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { Attempt } from "./deliver.ts";
import { catchUp, inSteps } from "./waiting.ts";
import { breakerPause, LONGEST_BREAKER_PAUSE } from "./schedule.ts";

/**
 * Circuit breakers, one for each number's webhook. Ten failed attempts in a row, whatever deliveries they belong to,
 * open it: nothing is posted any more, deliveries wait, chats do not wait for timeouts. After a pause one delivery is
 * tried; when that is accepted, what waits goes out again, oldest first, a few at a time.
 */
export interface Breakers {
  /** Reads where the last run was. */
  load(): Promise<void>;
  /** Nothing may be posted but what the worker is told to try. */
  isOpen(deviceId: number): boolean;
  /** It has closed, and what had waited is still going out. */
  isCatchingUp(deviceId: number): boolean;
  /** All numbers of which that is so. */
  catchingUp(): number[];
  caughtUp(deviceId: number): void;
  /** What had waited was still going out when the last run ended. */
  goOn(deviceId: number): void;
  /** How many attempts of this number the worker may make at the same time. */
  slots(deviceId: number): number;
  open(): OpenBreakers;
  /** One delivery is tried: until `ended`, no other one is. */
  probe(deviceId: number): { ended(): void };
  /** What a finished attempt means for the endpoint that it went to. */
  record(deviceId: number, attempt: Attempt, kind?: "probe" | "test"): "goes on" | "disable";
  /** Somebody says that it is worth another try: the pause is over. */
  tryNow(deviceId: number): void;
  /** Its owner has set it anew: nothing is held against it, and what waits goes out. */
  reset(deviceId: number): Promise<void>;
  health(deviceId: number): { failures: number; failingSince: number | null; pausedUntil: number | null };
  forget(deviceId: number): void;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

/** Which numbers' deliveries wait for their breaker. */
export interface OpenBreakers {
  /** Nothing of theirs is posted now. */
  paused: number[];
  /** Only second attempts that were planned before it opened, by their latest time (Unix milliseconds). */
  firstRetries: Record<number, number>;
  /** One delivery of each may be tried now. */
  toProbe: number[];
  /** When the next pause ends, Unix milliseconds; infinite when none does. */
  nextProbeAt: number;
}

interface BreakersDeps {
  store: Store;
  log: Logger;
  /** 0 to 1; spreads the ends of pauses. */
  random: () => number;
  /** Deliveries of this number may go out that had to wait. */
  wake(deviceId: number): void;
  /** Called when it has opened or closed. */
  onTurn?: (deviceId: number, to: "paused" | "ok") => void;
}

interface Breaker {
  /** Failed attempts since the last accepted one. */
  failures: number;
  /** Those of them that may be over soon: no answer, or one that asks to come again. */
  outages: number;
  failingSince: number | null;
  pausedUntil: number | null;
  openedAt: number;
  probing: boolean;
  /** It accepts again, and what waits is being made ready: nothing is posted until that is done. */
  closing: boolean;
  /** Attempts accepted since it closed; null unless it is catching up. */
  caught: number | null;
}

const FAILURES_THAT_OPEN = 10;
/** An endpoint that has just come back is let alone again sooner. */
const FAILURES_WHILE_CATCHING_UP = 3;
const FAILING_TOO_LONG_MS = 5 * 24 * 3_600_000;
/** Second attempts come 5 s ± 20 % after the first. */
const LATEST_FIRST_RETRY_MS = 6_000;
const FIRST_RETRIES_END_MS = 60_000;
const SLOTS = 16;
/** So that one number's failing receiver does not take all slots. */
const SLOTS_WHILE_FAILING = 4;

const FAILING = defineQuery(
  "select device_id, failures, failing_since, paused_until from webhooks where failing_since is not null",
  {
    deviceId: webhooks.deviceId,
    failures: webhooks.failures,
    failingSince: webhooks.failingSince,
    pausedUntil: webhooks.pausedUntil,
  },
);
const UPDATE = "update webhooks set failures = ?, failing_since = ?, paused_until = ? where device_id = ?";

/** Breakers of all webhooks, closed; `load` brings what the last run knew. */
export function createBreakers({ store, log, random, wake, onTurn }: BreakersDeps): Breakers {
  const known = new Map<number, Breaker>();
  let written: Promise<void> = Promise.resolve();

  function breakerOf(deviceId: number): Breaker {
    const found = known.get(deviceId);
    if (found) return found;
    const made: Breaker = { ...CLOSED };
    known.set(deviceId, made);
    return made;
  }

  /** Beside the attempts' own commits: a count that is one behind after a crash does no harm. */
  function write(deviceId: number): Promise<void> {
    const { failures, failingSince, pausedUntil } = known.get(deviceId) ?? CLOSED;
    const update = { sql: UPDATE, args: [failures, failingSince, pausedUntil, deviceId] };
    return tracked(
      store.writer.commit([update]).then(
        () => undefined,
        (error: unknown) =>
          log.error({ err: error, device: deviceId }, "a webhook's failures could not be counted"),
      ),
    );
  }

  function tracked(work: Promise<void>): Promise<void> {
    written = written.then(() => work);
    return work;
  }

  function accepted(deviceId: number): void {
    const breaker = known.get(deviceId);
    if (!breaker) return;
    if (breaker.pausedUntil !== null) return void tracked(close(deviceId, breaker));
    if (breaker.failingSince !== null) {
      Object.assign(breaker, { ...CLOSED, probing: breaker.probing, caught: breaker.caught });
      void write(deviceId);
    }
    if (breaker.caught !== null) breaker.caught++;
    else known.delete(deviceId);
  }

  /** Nothing goes out before everything that waits has its place: else what is behind would come first. */
  async function close(deviceId: number, breaker: Breaker): Promise<void> {
    if (breaker.closing) return;
    breaker.closing = true;
    try {
      await inSteps(store, () => catchUp(deviceId, store.now()));
    } catch (error) {
      // The pause is over already: the next probe tries it again.
      log.error({ err: error, device: deviceId }, "what waits for a webhook could not be made ready");
      breaker.closing = false;
      return;
    }
    // It may have been set anew, or deleted, meanwhile.
    if (known.get(deviceId) !== breaker) return;
    Object.assign(breaker, { ...CLOSED, probing: breaker.probing, caught: 1 });
    log.info({ device: deviceId }, "the webhook accepts again; what waited goes out");
    await write(deviceId);
    onTurn?.(deviceId, "ok");
    wake(deviceId);
  }

  function failed(deviceId: number, attempt: Attempt, isProbe: boolean): "goes on" | "disable" {
    const breaker = breakerOf(deviceId);
    const now = store.now();
    breaker.failures++;
    breaker.failingSince ??= now;
    if (attempt.result === "retry") breaker.outages++;
    const failingFor = now - breaker.failingSince;
    if (failingFor >= FAILING_TOO_LONG_MS && breaker.failures >= FAILURES_THAT_OPEN) {
      Object.assign(breaker, { pausedUntil: null, caught: null });
      void write(deviceId);
      return "disable";
    }
    const limit = breaker.caught === null ? FAILURES_THAT_OPEN : FAILURES_WHILE_CATCHING_UP;
    const opens = breaker.pausedUntil === null && breaker.outages >= limit;
    if (opens || (isProbe && breaker.pausedUntil !== null))
      breaker.pausedUntil = now + breakerPause(failingFor, attempt.retryAfterMs, random);
    if (opens) {
      Object.assign(breaker, { openedAt: now, caught: null });
      const until = new Date(breaker.pausedUntil!).toISOString();
      log.warn(
        { device: deviceId, failures: breaker.failures, until },
        "the webhook keeps failing; nothing is posted to it for now, deliveries wait",
      );
    }
    void write(deviceId).then(() => (opens ? onTurn?.(deviceId, "paused") : undefined));
    return "goes on";
  }

  /** A clock that was set back must not make the pause longer than any pause is. */
  function pauseIsOver({ pausedUntil }: Breaker, now: number): boolean {
    return pausedUntil !== null && (now >= pausedUntil || pausedUntil - now > LONGEST_BREAKER_PAUSE);
  }

  return {
    async load() {
      known.clear();
      for (const { deviceId, ...kept } of await store.read(FAILING))
        known.set(deviceId, { ...CLOSED, ...kept, outages: kept.failures });
    },

    isOpen: (deviceId) => (known.get(deviceId)?.pausedUntil ?? null) !== null,
    isCatchingUp: (deviceId) => (known.get(deviceId)?.caught ?? null) !== null,
    catchingUp: () => [...known].filter(([, { caught }]) => caught !== null).map(([deviceId]) => deviceId),

    caughtUp(deviceId) {
      const breaker = known.get(deviceId);
      if (breaker) breaker.caught = null;
      if (breaker?.failingSince === null) known.delete(deviceId);
    },

    goOn(deviceId) {
      const breaker = breakerOf(deviceId);
      if (breaker.pausedUntil === null) breaker.caught ??= 1;
    },

    slots(deviceId) {
      const breaker = known.get(deviceId);
      if (!breaker) return SLOTS;
      if (breaker.outages > 0) return SLOTS_WHILE_FAILING;
      return breaker.caught === null ? SLOTS : Math.min(SLOTS, 1 + breaker.caught);
    },

    open() {
      const now = store.now();
      const all: OpenBreakers = { paused: [], firstRetries: {}, toProbe: [], nextProbeAt: Infinity };
      for (const [deviceId, breaker] of known) {
        if (breaker.pausedUntil === null) continue;
        if (now - breaker.openedAt < FIRST_RETRIES_END_MS)
          all.firstRetries[deviceId] = breaker.openedAt + LATEST_FIRST_RETRY_MS;
        else all.paused.push(deviceId);
        if (breaker.probing || breaker.closing) continue;
        if (pauseIsOver(breaker, now)) all.toProbe.push(deviceId);
        else all.nextProbeAt = Math.min(all.nextProbeAt, breaker.pausedUntil);
      }
      return all;
    },

    probe(deviceId) {
      const breaker = breakerOf(deviceId);
      breaker.probing = true;
      return { ended: () => void (breaker.probing = false) };
    },

    record(deviceId, attempt, kind) {
      if (attempt.result === "accepted") accepted(deviceId);
      else if (attempt.result !== "gone" && kind !== "test")
        return failed(deviceId, attempt, kind === "probe");
      return "goes on";
    },

    tryNow(deviceId) {
      const breaker = known.get(deviceId);
      if (breaker?.pausedUntil) breaker.pausedUntil = Math.min(breaker.pausedUntil, store.now());
    },

    async reset(deviceId) {
      const breaker = known.get(deviceId);
      if (!breaker) return;
      if (breaker.pausedUntil !== null) {
        known.set(deviceId, { ...breaker, closing: false });
        return tracked(close(deviceId, known.get(deviceId)!));
      }
      known.delete(deviceId);
      await write(deviceId);
      wake(deviceId);
    },

    health(deviceId) {
      const { failures, failingSince, pausedUntil } = known.get(deviceId) ?? CLOSED;
      return { failures, failingSince, pausedUntil };
    },

    forget: (deviceId) => void known.delete(deviceId),
    idle: () => written,
  };
}

const CLOSED: Readonly<Breaker> = {
  failures: 0,
  outages: 0,
  failingSince: null,
  pausedUntil: null,
  openedAt: Number.NEGATIVE_INFINITY,
  probing: false,
  closing: false,
  caught: null,
};
