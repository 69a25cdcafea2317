import type { Duration } from "../duration.ts";

/** What a dialogue stores between two messages, as JSON. */
export type DialogueState = Record<string, unknown>;

/** A timer that a dialogue sets for itself in the chat. */
export type OwnTimer =
  /** Runs at `at` (Unix milliseconds) with `data`. */
  | { key: string; at: number; data: unknown }
  /** Cancels the timer. */
  | { key: string; at: null }
  /** Runs the timer at once, if it is set. */
  | { key: string; at: "now" }
  /**
   * Sends a signal to the timer under one of these keys (today's key first). It gets the signal when it runs, from
   * `Resumed.sent`.
   */
  | { sentTo: readonly string[]; signal: unknown }
  /** Deletes the signals that were sent to it. */
  | { sentTo: readonly string[]; signal?: never };

/** The circumstances when a dialogue's own timer runs. */
export interface Resumed {
  /** Another dialogue has the chat: this one may not ask anything. */
  isBusy: boolean;
  /** Returns the signals that were sent to the timers with these keys, oldest first. */
  sent(keys: readonly string[]): Promise<unknown[]>;
}

/** The result of one turn of a dialogue. */
export type Turn =
  /** The dialogue continues from this state at the next message, or at `wakeAt` (Unix milliseconds). */
  | { kind: "continue"; state: DialogueState; note?: string; wakeAt?: number; timers?: readonly OwnTimer[] }
  /** The dialogue has ended. `error`: its code threw this. */
  | { kind: "end"; note?: string; error?: unknown; timers?: readonly OwnTimer[] }
  /** The dialogue ran beside the chat's dialogue, which stays as it was. */
  | { kind: "aside"; note?: string; error?: unknown; timers?: readonly OwnTimer[] }
  /** The message is not for this dialogue. The routes are asked, and the dialogue stays where it was. */
  | { kind: "pass" };

/** What would happen to a conversation that other code started. Working this out does and sends nothing. */
export type Foreseen =
  /**
   * The conversation continues: the answer to the shown question is accepted, or the wait goes on. `gone`: keys that were
   * shown and can no longer be chosen.
   */
  | { kind: "goes_on"; gone?: readonly string[] }
  /** The answer under this key no longer fits. Its question is asked again. */
  | { kind: "asked_again"; key: string; gone?: readonly string[] }
  /** A new question comes first, or replaces one that was removed. */
  | { kind: "asked_new"; key: string }
  /** A new step runs before the open question. What follows it cannot be known. */
  | { kind: "does"; key: string }
  /** A new wait comes before the open question. */
  | { kind: "waits"; key: string }
  /** Every question has an answer. The next message completes the conversation. */
  | { kind: "completes" }
  /** The author's `onChange` makes the journal fit. `key` is asked next. */
  | { kind: "migrates"; key: string }
  /** The conversation starts over. */
  | { kind: "restarts" }
  /** The conversation ends early. */
  | { kind: "ends" }
  /** The code throws, which ends the conversation. */
  | { kind: "fails"; error: unknown };

/** When a dialogue without an answer reminds, and when it ends. */
export interface Idle {
  /** Asks again after this time, once. Default: no reminder. */
  remind?: Duration;
  /** Ends the dialogue after this time. Default 24 h. */
  expire?: Duration;
}
