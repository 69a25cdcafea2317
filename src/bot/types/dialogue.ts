import type { Duration } from "../duration.ts";

/** JSON that a dialogue keeps between two messages. */
export type DialogueState = Record<string, unknown>;

/** A timer that a dialogue keeps for itself, in the chat's name. */
export type OwnTimer =
  /** Unix milliseconds, and what it is handed then. */
  | { key: string; at: number; data: unknown }
  /** Forgotten. */
  | { key: string; at: null }
  /** Runs at once, when there is one, and is handed this in the list `sent` of its data. */
  | { key: string; sent: unknown };

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

/** When a dialogue that nobody goes on with reminds and ends. */
export interface Idle {
  /** Asks again after this time, once. */
  remind?: Duration;
  /** Ends it after this time. Default 24 h. */
  expire?: Duration;
}
