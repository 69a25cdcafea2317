import type { Logger } from "../../log.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Store } from "../../store/store.ts";
import type { Attempt } from "./deliver.ts";
import { createHealthRow, HEALTHY, readHealth, type WebhookFailures } from "./health-row.ts";
import { catchUp, inSteps } from "./waiting.ts";
import { breakerPause, LONGEST_BREAKER_PAUSE } from "./schedule.ts";
import { namesOf, type Target } from "../receiver.ts";

/**
 * The circuit breaker of one receiver. Ten failed attempts in a row, whatever deliveries they belong to, open it:
 * nothing is posted any more, deliveries wait, chats do not wait for timeouts. After a pause one delivery is tried; when that is
 * accepted, what waits goes out again, oldest first, a few at a time.
 */
export interface Breaker {
  /** Reads where whoever had the number before was. @throws StorageUnavailable */
  load(): Promise<void>;
  /** Nothing may be posted but what the queue is told to try. */
  isOpen(): boolean;
  /** What the queue may post now. */
  lets(): Lets;
  /** It has closed, and what had waited is still going out. */
  isCatchingUp(): boolean;
  caughtUp(): void;
  /** How many attempts the queue may make at the same time. */
  slots(): number;
  /** When one delivery may be tried, Unix milliseconds; null: it is closed, or one is being tried. */
  probeAt(): number | null;
  /** One delivery is tried: until `ended`, no other one is. */
  probe(): { ended(): void };
  /** What a finished attempt means for the endpoint that it went to. */
  record(attempt: Outcome, kind?: "probe" | "test"): "goes on" | "disable";
  /** Somebody says that it is worth another try: the pause is over. */
  tryNow(): void;
  /** Its owner has set it anew: nothing is held against it, and what waits goes out. */
  reset(): Promise<void>;
  health(): WebhookFailures;
  /** The webhook is gone. */
  forget(): void;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

/** `firstRetries`: only second attempts that were planned before it opened, by their latest time (Unix milliseconds). */
export type Lets = "all" | "nothing" | { firstRetries: number };

/** What is counted of a finished attempt. */
type Outcome = Pick<Attempt, "result" | "retryAfterMs">;

interface BreakerDeps {
  target: Target;
  /** In the hands of whoever has the number. */
  store: Store;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
  /** 0 to 1; spreads the ends of pauses. */
  random: () => number;
  /** Deliveries may go out that had to wait. */
  wake(): void;
  /** How many attempts there may be at the same time, at most. Default {@link SLOTS}. */
  mostSlots?: number | undefined;
  /** It has opened, or closed. */
  turned(to: "paused" | "ok"): void;
}

interface State extends WebhookFailures {
  /** Failures that may be over soon: no answer, or one that asks to come again. */
  outages: number;
  openedAt: number;
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
const CLOSED: Readonly<State> = {
  ...HEALTHY,
  outages: 0,
  openedAt: Number.NEGATIVE_INFINITY,
  closing: false,
  caught: null,
};

/** Closed; `load` brings what is in the row. */
export function createBreaker(deps: BreakerDeps): Breaker {
  const { target, store, log, now, wake, turned } = deps;
  const known = namesOf(target);
  const row = createHealthRow(store, target, log);
  /** Another object once the webhook was set anew, or deleted. */
  let state: State = { ...CLOSED };
  let probing = false;
  const write = (): Promise<void> => row.write(state);

  function accepted(): void {
    if (state.pausedUntil !== null) return void row.track(close());
    if (state.failingSince !== null) {
      Object.assign(state, { ...CLOSED, caught: state.caught });
      void write();
    }
    if (state.caught !== null) state.caught++;
  }

  /** Nothing goes out before everything that waits has its place: else what is behind would come first. */
  async function close(): Promise<void> {
    const closing = state;
    if (closing.closing) return;
    closing.closing = true;
    // When it fails, the pause is over already: the next probe tries it again.
    closing.closing = await releaseWaiting(deps);
    if (!closing.closing || state !== closing) return;
    Object.assign(state, { ...CLOSED, caught: 1 });
    log.info(known, "the webhook accepts again; sending the waiting deliveries");
    await write();
    turned("ok");
    wake();
  }

  function failed(attempt: Outcome, isProbe: boolean): "goes on" | "disable" {
    const { opens, disables } = countFailure(state, attempt, isProbe, now(), deps.random);
    const written = write();
    if (disables) return "disable";
    if (opens) {
      logPause(deps, state);
      void written.then(() => turned("paused"));
    }
    return "goes on";
  }

  return {
    async load() {
      const health = await readHealth(store, target);
      state = { ...CLOSED, ...health, outages: health.failures };
    },
    isOpen: () => state.pausedUntil !== null,
    lets: () => letsOf(state, now()),
    isCatchingUp: () => state.caught !== null,
    caughtUp: () => void (state.caught = null),
    slots: () => Math.min(deps.mostSlots ?? SLOTS, slotsOf(state)),
    probeAt: () => (probing || state.closing ? null : endOfPause(state, now())),
    probe() {
      probing = true;
      return { ended: () => void (probing = false) };
    },
    record(attempt, kind) {
      if (attempt.result === "accepted") accepted();
      else if (attempt.result !== "gone" && kind !== "test") return failed(attempt, kind === "probe");
      return "goes on";
    },
    tryNow() {
      if (state.pausedUntil !== null) state.pausedUntil = Math.min(state.pausedUntil, now());
    },
    async reset() {
      const isPaused = state.pausedUntil !== null;
      state = isPaused ? { ...state, closing: false } : { ...CLOSED };
      if (isPaused) return row.track(close());
      await write();
      wake();
    },
    health: () => healthOf(state),
    forget: () => void (state = { ...CLOSED }),
    idle: row.idle,
  };
}

/** @returns false when the table could not be written */
async function releaseWaiting({ store, target, now, log }: BreakerDeps): Promise<boolean> {
  try {
    await inSteps(store, () => catchUp(target, now()));
    return true;
  } catch (error) {
    if (isWorthLogging(error))
      log.error(
        { err: error, ...namesOf(target) },
        "could not release the deliveries that wait for a webhook",
      );
    return false;
  }
}

function logPause({ target, log }: BreakerDeps, { failures, pausedUntil }: WebhookFailures): void {
  const until = new Date(pausedUntil!).toISOString();
  log.warn(
    { ...namesOf(target), failures, until },
    "the webhook keeps failing and is paused; its deliveries wait",
  );
}

const healthOf = ({ failures, failingSince, pausedUntil }: State): WebhookFailures => ({
  failures,
  failingSince,
  pausedUntil,
});

/** Counts it in the state. `opens`: it has opened now; `disables`: the webhook is to be switched off. */
function countFailure(
  state: State,
  attempt: Outcome,
  isProbe: boolean,
  at: number,
  random: () => number,
): { opens: boolean; disables: boolean } {
  state.failures++;
  state.failingSince ??= at;
  if (attempt.result === "retry") state.outages++;
  const failingFor = at - state.failingSince;
  if (failingFor >= FAILING_TOO_LONG_MS && state.failures >= FAILURES_THAT_OPEN) {
    Object.assign(state, { pausedUntil: null, caught: null });
    return { opens: false, disables: true };
  }
  const limit = state.caught === null ? FAILURES_THAT_OPEN : FAILURES_WHILE_CATCHING_UP;
  const opens = state.pausedUntil === null && state.outages >= limit;
  if (opens || (isProbe && state.pausedUntil !== null))
    state.pausedUntil = at + breakerPause(failingFor, attempt.retryAfterMs, random);
  if (opens) Object.assign(state, { openedAt: at, caught: null });
  return { opens, disables: false };
}

function letsOf({ pausedUntil, openedAt }: State, at: number): Lets {
  if (pausedUntil === null) return "all";
  return at - openedAt < FIRST_RETRIES_END_MS
    ? { firstRetries: openedAt + LATEST_FIRST_RETRY_MS }
    : "nothing";
}

function slotsOf({ outages, caught }: State): number {
  if (outages > 0) return SLOTS_WHILE_FAILING;
  return caught === null ? SLOTS : Math.min(SLOTS, 1 + caught);
}

/** A clock that was set back must not make the pause longer than any pause is. Null: there is none. */
function endOfPause({ pausedUntil }: WebhookFailures, at: number): number | null {
  return pausedUntil !== null && pausedUntil - at > LONGEST_BREAKER_PAUSE ? at : pausedUntil;
}
