import type { Logger } from "../../log.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";

/** Code of a bot that ran, for the log. */
export interface BlockingPlace {
  bot: string;
  /** As decisions name it: `match:/…/`, `keyword:menu`, `form:lead`, `tap`. */
  route: string;
  device: number;
  message: string;
}

/** How often a bot held everybody up since the bots were loaded, as `GET /bots` shows it. */
export interface BlockedView {
  /** Measured, each longer than a second. */
  times: number;
  longest_ms: number;
  /** Of the last time. */
  route: string;
  at: string;
  /** Until then no number asks the bot; null while all do. */
  left_out_until: string | null;
}

/**
 * Bots that do not give the event loop back: no number receives, sends or answers meanwhile. What a bot does is measured
 * where it is called: until its first `await`, and again from each result of `ctx` on.
 */
export interface Blocking {
  /** Code of a bot took so long without giving way. @returns whether that was too long: it was logged and counted */
  noteTime(place: BlockingPlace, ms: number): boolean;
  /** The bot has done it too often: nothing of it is asked just now, on no number. */
  isLeftOut(botId: string): boolean;
  /** Null for a bot that never did. */
  of(botId: string): BlockedView | null;
  /** Bots were loaded again: what their files did before says nothing of them now. */
  forget(): void;
}

/** A second in which nobody is served. */
export const BLOCKING_MS = SECOND_MS;
const MOST_TIMES = 3;
const WITHIN_MS = HOUR_MS;
const LONGEST_PAUSE_MS = HOUR_MS;

interface Blocked {
  times: number;
  longestMs: number;
  route: string;
  /** Unix milliseconds, for people. */
  at: number;
  /** Of the time that only grows, like `leftOutUntil`: a clock that is set must neither free a bot nor lock it out. */
  recent: number[];
  leftOutUntil: number;
  /** How often it was left out already. */
  pauses: number;
}

/** Counts in memory: a restart, like a reload, gives every bot another chance. */
export function createBlocking(log: Logger, { now, monotonic }: Pick<Time, "now" | "monotonic">): Blocking {
  const known = new Map<string, Blocked>();

  function leaveOut(found: Blocked, place: BlockingPlace): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, MINUTE_MS * 2 ** found.pauses);
    found.pauses += 1;
    found.leftOutUntil = monotonic() + pauseMs;
    log.error(
      { ...place, pauseMs, times: found.times },
      "a bot keeps blocking the event loop; all numbers skip it for a while",
    );
  }

  return {
    noteTime(place, ms) {
      if (ms < BLOCKING_MS) return false;
      const blockedMs = Math.round(ms);
      log.warn(
        { ...place, blockedMs },
        "the handler blocked the event loop: all numbers were blocked during that time",
      );
      const { times = 0, longestMs = 0, recent = [], ...last } = known.get(place.bot) ?? {};
      const found: Blocked = {
        leftOutUntil: 0,
        pauses: 0,
        ...last,
        times: times + 1,
        longestMs: Math.max(longestMs, blockedMs),
        route: place.route,
        at: now(),
        recent: [...recent.filter((at) => at > monotonic() - WITHIN_MS), monotonic()].slice(-MOST_TIMES),
      };
      known.set(place.bot, found);
      if (found.recent.length === MOST_TIMES) leaveOut(found, place);
      return true;
    },
    isLeftOut: (botId) => (known.get(botId)?.leftOutUntil ?? 0) > monotonic(),
    of(botId) {
      const found = known.get(botId);
      if (found === undefined) return null;
      const leftMs = found.leftOutUntil - monotonic();
      return {
        times: found.times,
        longest_ms: found.longestMs,
        route: found.route,
        at: new Date(found.at).toISOString(),
        left_out_until: leftMs > 0 ? new Date(now() + leftMs).toISOString() : null,
      };
    },
    forget: () => known.clear(),
  };
}

/** As decisions say it. */
export const blockedFor = (ms: number): string => `blocked everybody for ${Math.round(ms)} ms`;

/** Measures the code of one handler, in the pieces in which it runs. */
export interface Stopwatch {
  /** Runs a piece that is the bot's own until it returns. */
  during<T>(piece: () => T): T;
  /** The handler goes on from here as soon as the caller has returned. */
  goesOn(): void;
  /** Milliseconds of the longest piece; one that is under way ends here. */
  longestMs(): number;
}

/** A stopwatch that stands at zero. */
export function createStopwatch(monotonic: Time["monotonic"]): Stopwatch {
  let longest = 0;
  let since: number | null = null;
  const end = (): void => {
    if (since !== null) longest = Math.max(longest, monotonic() - since);
    since = null;
  };
  return {
    during(piece) {
      // Within a piece that is measured already it is a part of that one.
      if (since !== null) return piece();
      since = monotonic();
      try {
        return piece();
      } finally {
        end();
      }
    },
    goesOn() {
      since ??= monotonic();
      // Ticks come when the promises that are settled by now have had their turn, the handler's among them.
      process.nextTick(end);
    },
    longestMs() {
      end();
      return longest;
    },
  };
}
