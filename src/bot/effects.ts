import type { Wanted } from "./content.ts";
import type { Dialogue } from "./types.ts";

/** One handler may say so much: more is a loop, and would cost the number. */
export const MOST_REPLIES = 50;

/** Thrown by what a handler calls too late: it has returned, its time was up, or the gateway is stopping. */
export class ContextClosedError extends Error {
  constructor(call: string, why: string) {
    super(
      `ctx.${call}() was called after ${why}: nothing was sent. Await everything before the handler returns, and pass ctx.signal to what may take long.`,
    );
    this.name = "ContextClosedError";
  }
}

/** What a handler has asked for so far. Nothing of it happens before the message's commit. */
export interface Effects {
  /** `jid`: where to; null is the message's own chat. */
  replies: { wanted: Wanted; jid: string | null }[];
  passed: boolean;
  /** A dialogue to begin; null ends the one that is under way; undefined: neither. */
  dialogue: { dialogue: Dialogue<unknown>; input: unknown } | null | undefined;
  /** By key; null cancels. */
  timers: Map<string, { dueInMs: number; data: unknown } | null>;
  /** Milliseconds that a person has the chat; undefined: nobody took it. */
  handoffMs: number | null | undefined;
  /** Undefined: as it was. */
  locale: string | undefined;
}

/** What a handler has asked for that has not done anything yet. */
export function noEffects(): Effects {
  return {
    replies: [],
    passed: false,
    dialogue: undefined,
    timers: new Map(),
    handoffMs: undefined,
    locale: undefined,
  };
}
