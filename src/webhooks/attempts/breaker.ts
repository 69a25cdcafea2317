import type { Logger } from "../../log.ts";
import type { Store } from "../../store/store.ts";
import { createBreakerRows, type WebhookFailures } from "./breaker-rows.ts";
import type { Attempt } from "./deliver.ts";
import { catchUp, inSteps } from "./waiting.ts";
import { breakerPause, LONGEST_BREAKER_PAUSE } from "./schedule.ts";

/**
 * Circuit breakers, one for each number's webhook. Ten failed attempts in a row, whatever deliveries they belong to,
 * open it: nothing is posted any more, deliveries wait, chats do not wait for timeouts. After a pause one delivery is
 * tried; when that is accepted, what waits goes out again, oldest first, a few at a time.
 */
export interface Breakers {
  /** Reads where the last run was, or what other processes have found out since. */
  load(): Promise<void>;
  /** Reads what other processes may have found out about one number's webhook. */
  refresh(deviceId: number): Promise<void>;
  /** Another process has found out something. */
  hear(news: BreakerNews): void;
  /** What the row says, which another process may have written. @returns whether it is said there that the pause is over */
  look(deviceId: number, health: WebhookFailures): boolean;
  /** Nothing may be posted but what the worker is told to try. */
  isOpen(deviceId: number): boolean;
  /** Numbers whose breaker has closed, and for which what had waited is still going out. */
  catchingUp(): number[];
  caughtUp(deviceId: number): void;
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
  health(deviceId: number): WebhookFailures;
  forget(deviceId: number): void;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

/** What one process tells the others of a webhook. */
export interface BreakerNews extends WebhookFailures {
  deviceId: number;
  outages: number;
  /** It accepts again, and what had waited goes out. */
  catchingUp: boolean;
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
  /** Unix milliseconds, by a clock that all who look at the same webhooks share. */
  now(): number;
  /** Whether this process tries webhooks of a number when their pause is over: one of several does. Default: it does. */
  mayProbe?: (deviceId: number) => boolean;
  /** Tells the other processes. */
  tell?: (news: BreakerNews) => void;
  log: Logger;
  /** 0 to 1; spreads the ends of pauses. */
  random: () => number;
  /** Deliveries of this number may go out that had to wait. */
  wake(deviceId: number): void;
  /** Called when it has opened or closed. */
  onTurn?: (deviceId: number, to: "paused" | "ok") => void;
}

interface WebhookBreaker {
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

/** The process that tries a webhook after its pause has not heard of the pause when nobody has tried for so long. */
const UNTRIED_MS = 10_000;

/** Breakers of all webhooks, closed; `load` brings what the last run knew. */
export function createBreakers(deps: BreakersDeps): Breakers {
  const { store, log, random, wake, onTurn, now, mayProbe = () => true } = deps;
  const known = new Map<number, WebhookBreaker>();
  const rows = createBreakerRows(store, log);

  function breakerOf(deviceId: number): WebhookBreaker {
    const found = known.get(deviceId);
    if (found) return found;
    const made: WebhookBreaker = { ...CLOSED };
    known.set(deviceId, made);
    return made;
  }

  function tellOf(deviceId: number): void {
    const { failures, outages, failingSince, pausedUntil, caught } = known.get(deviceId) ?? CLOSED;
    deps.tell?.({ deviceId, failures, outages, failingSince, pausedUntil, catchingUp: caught !== null });
  }

  function write(deviceId: number): Promise<void> {
    tellOf(deviceId);
    return rows.write(deviceId, known.get(deviceId) ?? CLOSED);
  }

  function hear({ deviceId, catchingUp, ...state }: BreakerNews, openedAt: number): void {
    const breaker = breakerOf(deviceId);
    // What this process finds out now is newer.
    if (breaker.closing) return;
    if (breaker.pausedUntil === null && state.pausedUntil !== null) breaker.openedAt = openedAt;
    Object.assign(breaker, state);
    if (state.pausedUntil !== null) breaker.caught = null;
    else if (catchingUp) breaker.caught ??= 1;
    else if (state.failingSince === null && breaker.caught === null && !breaker.probing)
      known.delete(deviceId);
    // Of several processes one tries what is paused; what goes out again is looked after by who has found out.
    if (mayProbe(deviceId)) wake(deviceId);
  }

  /** A row that says something else was written by another process, whose news were lost. */
  function adopt(deviceId: number, health: WebhookFailures): void {
    if (rows.isBehind(deviceId)) return;
    const breaker = known.get(deviceId) ?? CLOSED;
    if (breaker.pausedUntil === health.pausedUntil && breaker.failingSince === health.failingSince) return;
    const catchingUp = breaker.caught !== null || breaker.pausedUntil !== null;
    hear({ deviceId, ...health, outages: health.failures, catchingUp }, CLOSED.openedAt);
  }

  async function refresh(deviceId: number): Promise<void> {
    const row = await rows.one(deviceId);
    if (row !== null) adopt(deviceId, row);
  }

  function accepted(deviceId: number): void {
    const breaker = known.get(deviceId);
    if (!breaker) return;
    if (breaker.pausedUntil !== null) return void rows.track(close(deviceId, breaker));
    if (breaker.failingSince !== null) {
      Object.assign(breaker, { ...CLOSED, probing: breaker.probing, caught: breaker.caught });
      void write(deviceId);
    }
    if (breaker.caught !== null) breaker.caught++;
    else known.delete(deviceId);
  }

  /** Nothing goes out before everything that waits has its place: else what is behind would come first. */
  async function close(deviceId: number, breaker: WebhookBreaker): Promise<void> {
    if (breaker.closing) return;
    breaker.closing = true;
    try {
      await inSteps(store, () => catchUp(deviceId, now()));
    } catch (error) {
      // The pause is over already: the next probe tries it again.
      log.error({ err: error, device: deviceId }, "could not release the deliveries that wait for a webhook");
      breaker.closing = false;
      return;
    }
    // It may have been set anew, or deleted, meanwhile.
    if (known.get(deviceId) !== breaker) return;
    Object.assign(breaker, { ...CLOSED, probing: breaker.probing, caught: 1 });
    log.info({ device: deviceId }, "the webhook accepts again; sending the waiting deliveries");
    await write(deviceId);
    onTurn?.(deviceId, "ok");
    wake(deviceId);
  }

  function failed(deviceId: number, attempt: Attempt, isProbe: boolean): "goes on" | "disable" {
    const breaker = breakerOf(deviceId);
    const at = now();
    breaker.failures++;
    breaker.failingSince ??= at;
    if (attempt.result === "retry") breaker.outages++;
    const failingFor = at - breaker.failingSince;
    if (failingFor >= FAILING_TOO_LONG_MS && breaker.failures >= FAILURES_THAT_OPEN) {
      Object.assign(breaker, { pausedUntil: null, caught: null });
      void write(deviceId);
      return "disable";
    }
    const limit = breaker.caught === null ? FAILURES_THAT_OPEN : FAILURES_WHILE_CATCHING_UP;
    const opens = breaker.pausedUntil === null && breaker.outages >= limit;
    if (opens || (isProbe && breaker.pausedUntil !== null))
      breaker.pausedUntil = at + breakerPause(failingFor, attempt.retryAfterMs, random);
    if (opens) {
      Object.assign(breaker, { openedAt: at, caught: null });
      const until = new Date(breaker.pausedUntil!).toISOString();
      log.warn(
        { device: deviceId, failures: breaker.failures, until },
        "the webhook keeps failing and is paused; its deliveries wait",
      );
    }
    void write(deviceId).then(() => (opens ? onTurn?.(deviceId, "paused") : undefined));
    return "goes on";
  }

  return {
    async load() {
      const failing = await rows.all();
      for (const deviceId of [...known.keys(), ...failing.keys()])
        adopt(deviceId, failing.get(deviceId) ?? CLOSED);
    },

    refresh,
    hear: (news) => hear(news, now()),

    look(deviceId, health) {
      adopt(deviceId, health);
      const { pausedUntil } = health;
      if (pausedUntil === null || now() < pausedUntil + UNTRIED_MS) return false;
      tellOf(deviceId);
      return true;
    },

    isOpen: (deviceId) => (known.get(deviceId)?.pausedUntil ?? null) !== null,
    catchingUp: () => [...known].filter(([, { caught }]) => caught !== null).map(([deviceId]) => deviceId),

    caughtUp(deviceId) {
      const breaker = known.get(deviceId);
      if (breaker) breaker.caught = null;
      if (breaker?.failingSince === null) known.delete(deviceId);
    },

    slots(deviceId) {
      const breaker = known.get(deviceId);
      if (!breaker) return SLOTS;
      if (breaker.outages > 0) return SLOTS_WHILE_FAILING;
      return breaker.caught === null ? SLOTS : Math.min(SLOTS, 1 + breaker.caught);
    },

    open() {
      const at = now();
      const all: OpenBreakers = { paused: [], firstRetries: {}, toProbe: [], nextProbeAt: Infinity };
      for (const [deviceId, breaker] of known) {
        if (breaker.pausedUntil === null) continue;
        if (at - breaker.openedAt < FIRST_RETRIES_END_MS)
          all.firstRetries[deviceId] = breaker.openedAt + LATEST_FIRST_RETRY_MS;
        else all.paused.push(deviceId);
        if (breaker.probing || breaker.closing || !mayProbe(deviceId)) continue;
        if (pauseIsOver(breaker, at)) all.toProbe.push(deviceId);
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
      if (!breaker?.pausedUntil) return;
      breaker.pausedUntil = Math.min(breaker.pausedUntil, now());
      // Who tries it may be another process, which goes by the row.
      if (deps.tell) void write(deviceId);
    },

    async reset(deviceId) {
      if (deps.tell) await refresh(deviceId);
      const breaker = known.get(deviceId);
      if (!breaker) return;
      if (breaker.pausedUntil !== null) {
        known.set(deviceId, { ...breaker, closing: false });
        return rows.track(close(deviceId, known.get(deviceId)!));
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
    idle: rows.idle,
  };
}

const CLOSED: Readonly<WebhookBreaker> = {
  failures: 0,
  outages: 0,
  failingSince: null,
  pausedUntil: null,
  openedAt: Number.NEGATIVE_INFINITY,
  probing: false,
  closing: false,
  caught: null,
};

/** A clock that was set back must not make the pause longer than any pause is. */
function pauseIsOver({ pausedUntil }: Pick<WebhookBreaker, "pausedUntil">, at: number): boolean {
  return pausedUntil !== null && (at >= pausedUntil || pausedUntil - at > LONGEST_BREAKER_PAUSE);
}
