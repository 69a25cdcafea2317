import type { readPolicy } from "../dialogues/texts.ts";
import type { AnyContext, DialogueHost } from "../types/context.ts";
import type { OwnTimer, Turn } from "../types/dialogue.ts";
import type { Push } from "./progress.ts";
import type { FlowFunction, FlowOptions } from "./types.ts";

/** A flow as its author described it. */
export interface FlowCode {
  id: string;
  /** For messages: `flow("booking")`. */
  name: string;
  options: FlowOptions;
  policy: ReturnType<typeof readPolicy>;
  body: FlowFunction<never, unknown>;
}

/** What one turn brings besides the state. */
export interface Advance {
  ctx: AnyContext;
  host: DialogueHost;
  push: Push | null;
  /** Whether it has the chat, or goes on beside what happens there. */
  hasChat: boolean;
  /** False: another conversation has the chat. */
  mayAsk: boolean;
  note: string;
}

/** One turn under way, with the timers that it has set so far. */
export interface FlowTurnUnderWay extends Advance {
  timers: OwnTimer[];
}

/** The flow has ended; the chat's dialogue with it, when it was that. */
export const over = (
  { hasChat }: Pick<Advance, "hasChat">,
  note: string,
  more: Pick<Turn & { kind: "end" }, "error" | "timers"> = {},
): Turn => ({ kind: hasChat ? "end" : "aside", note, ...more });
