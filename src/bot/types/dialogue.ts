import type { Duration } from "../duration.ts";
import type { AnyContext } from "./context.ts";

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

/**
 * A conversation over several messages, as data: its state is a row, so that it survives restarts and changed code.
 * `menu` and `form` make them.
 */
export interface Dialogue<Input = undefined> {
  readonly kind: string;
  /** Unique within the bot; stored. */
  readonly id: string;
  readonly idle: Idle;
  /** Asks the first question. */
  begin(ctx: AnyContext, input: Input): Turn | Promise<Turn>;
  /** A message while it is under way. */
  take(ctx: AnyContext, state: DialogueState): Turn | Promise<Turn>;
  /** Says again what it waits for. */
  remind(ctx: AnyContext, state: DialogueState): void | Promise<void>;
  /** Called when it ends because nobody went on. */
  expired?(ctx: AnyContext, state: DialogueState): void | Promise<void>;
}
