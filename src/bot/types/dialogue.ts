import type { Duration } from "../duration.ts";

/** JSON that a dialogue keeps between two messages. */
export type DialogueState = Record<string, unknown>;

/** What a dialogue does with one turn. */
export type Turn =
  /** It goes on from here at the next message. */
  | { kind: "continue"; state: DialogueState; note?: string }
  /** It has ended. */
  | { kind: "end"; note?: string }
  /** The message is not for it: the routes are asked, and the dialogue stays where it was. */
  | { kind: "pass" };

/** When a dialogue that nobody goes on with reminds and ends. */
export interface Idle {
  /** Asks again after this time, once. */
  remind?: Duration;
  /** Ends it after this time. Default 24 h. */
  expire?: Duration;
}
