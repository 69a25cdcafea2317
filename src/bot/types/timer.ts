import type { Duration } from "../duration.ts";

/** The timer that a `timer` route handles. */
export interface Timer<Data = unknown> {
  readonly key: string;
  /** Null when the timer was set without an id. */
  readonly id: string | null;
  /** The data as JSON keeps it: a Date comes back as text. */
  readonly data: Data;
}

declare const dataOf: unique symbol;
/** A timer's key, as `b.timer` returns it. It is the text of the key; its type also tells the compiler the type of the data. */
export type TimerKey<Data> = string & { readonly [dataOf]: Data };

/** The arguments after the key when a timer is set. `data` is required when the key's type says so. */
export type TimerArguments<Key, Options> =
  Key extends TimerKey<infer Data>
    ? undefined extends Data
      ? [data?: Data, options?: Options]
      : [data: Data, options?: Options]
    : [data?: unknown, options?: Options];

/** Which timer to set, and until when it may run. */
export interface TimerOptions {
  /** Distinguishes timers with the same key in one chat: 1 to 64 characters. Default: the chat has one timer per key. */
  id?: string | number;
  /** When the timer is already set: `replace` (default) sets it again, `keep` leaves it as it is. */
  existing?: "replace" | "keep";
  /**
   * When the timer no longer runs, whatever delayed it: a date, or a duration after its time. After that, replies that it has
   * already queued are not sent either. Below zero, it never runs. Default: it runs however late.
   */
  expire?: Duration | Date;
  /** When the time is in the past, or the delay below zero: `now` (default) runs the timer at once, `skip` does not run it. */
  past?: "now" | "skip";
}
