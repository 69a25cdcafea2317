import type { Wanted } from "../messages/content.ts";
import type { StoreChanges } from "../sessions/store-rows.ts";
import type { Dialogue } from "../types.ts";

/** One handler may say so much: more is a loop, and would cost the number. */
export const MOST_REPLIES = 50;

/** Thrown by calls that come too late: the handler has returned, its time is up, or the gateway is stopping. */
export class ContextClosedError extends Error {
  constructor(call: string, why: string) {
    super(
      `ctx.${call}() was called after ${why}: nothing was sent. Await everything before the handler returns, and pass ctx.signal to calls that may take long.`,
    );
    this.name = "ContextClosedError";
  }
}

/** A dialogue of another bot of the number, and what it begins with. */
export interface Elsewhere {
  bot: string;
  dialogue: string;
  input: unknown;
}

/** What a handler has asked for so far. Nothing of it happens before the message's commit. */
export interface Effects {
  /** `jid`: where to; null is the message's own chat. `id`: of the message on the wire. */
  replies: { wanted: Wanted; jid: string | null; id: string }[];
  passed: boolean;
  /** A dialogue to begin; null ends the one that is under way; undefined: neither. */
  dialogue: { dialogue: Dialogue<unknown>; input: unknown } | null | undefined;
  /** By name (see `timerName`); null cancels. */
  timers: Map<string, WantedTimer | null>;
  /** Milliseconds that a person has the chat; undefined: nobody took it. */
  handoffMs: number | null | undefined;
  /** Undefined: as it was. */
  locale: string | undefined;
  /** A dialogue of another bot that is to begin; null: none. */
  elsewhere: Elsewhere | null;
  /** What it wants kept; null: it has not looked at its store. */
  store: StoreChanges | null;
}

/** A timer that a handler wants set. Times are Unix milliseconds. */
export interface WantedTimer {
  dueAt: number;
  data: unknown;
  /** After this it does not run any more; null: it runs however late. */
  expiresAt: number | null;
  /** One that is set already stays as it is. */
  keeps: boolean;
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
    elsewhere: null,
    store: null,
  };
}
