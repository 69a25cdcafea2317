import type { Duration } from "../duration.ts";

/** JSON that a dialogue keeps between two messages. */
export type DialogueState = Record<string, unknown>;

/** A timer that a dialogue keeps for itself, in the chat's name. */
export type OwnTimer =
  /** Unix milliseconds, and what it is handed then. */
  | { key: string; at: number; data: unknown }
  /** Forgotten. */
  | { key: string; at: null }
  /** Runs at once, when there is one. */
  | { key: string; at: "now" }
  /** For whatever is kept under one of these keys (today's first): handed to it when it runs, by `Resumed.sent`. */
  | { sentTo: readonly string[]; signal: unknown }
  /** What was sent to it is forgotten. */
  | { sentTo: readonly string[]; signal?: never };

/** How things stand when a dialogue's own timer has come. */
export interface Resumed {
  /** Another dialogue has the chat: nothing may be asked. */
  isBusy: boolean;
  /** What was sent to the timers of these keys, oldest first. */
  sent(keys: readonly string[]): Promise<unknown[]>;
}

/** What a dialogue does with one turn. */
export type Turn =
  /** It goes on from here at the next message, or at `wakeAt` (Unix milliseconds). */
  | { kind: "continue"; state: DialogueState; note?: string; wakeAt?: number; timers?: readonly OwnTimer[] }
  /** It has ended; `error`: because its code threw. */
  | { kind: "end"; note?: string; error?: unknown; timers?: readonly OwnTimer[] }
  /** It went on beside the chat's dialogue, which stays as it was. */
  | { kind: "aside"; note?: string; error?: unknown; timers?: readonly OwnTimer[] }
  /** The message is not for it: the routes are asked, and the dialogue stays where it was. */
  | { kind: "pass" };

/** What becomes of a conversation that other code began, found out without doing or saying anything. */
export type Foreseen =
  /** The answer to what was shown is taken, or what it waits for. `gone`: keys that were shown and cannot be chosen any more. */
  | { kind: "goes_on"; gone?: readonly string[] }
  /** The answer under this key fits no more: it is asked for again. */
  | { kind: "asked_again"; key: string; gone?: readonly string[] }
  /** A question that was not there comes first, or in the place of one that is gone. */
  | { kind: "asked_new"; key: string }
  /** Something that was not done is done before the question that is open; what comes then nobody knows yet. */
  | { kind: "does"; key: string }
  /** It waits for something new before the question that is open. */
  | { kind: "waits"; key: string }
  /** All is answered: the next message completes it. */
  | { kind: "completes" }
  /** The author's `onChange` makes it fit; `key` is asked then. */
  | { kind: "migrates"; key: string }
  /** It begins anew. */
  | { kind: "restarts" }
  /** It ends before it has come to its end. */
  | { kind: "ends" }
  /** Its code throws, which ends it. */
  | { kind: "fails"; error: unknown };

/** When a dialogue that nobody goes on with reminds and ends. */
export interface Idle {
  /** Asks again after this time, once. */
  remind?: Duration;
  /** Ends it after this time. Default 24 h. */
  expire?: Duration;
}
