import type { AnyContext, DialogueHost } from "../types/context.ts";
import type { OwnTimer } from "../types/dialogue.ts";
import { FLOW_TIMERS } from "../timers/timer-rows.ts";
import type { Beside } from "./context.ts";
import { FlowMistake } from "./errors.ts";
import { newState, type Signal } from "./state.ts";
import type { Flow } from "./types.ts";

/** Where nothing may be done. */
export const NOTHING_BESIDE: Beside = {
  spawn: () => undefined,
  stop: () => undefined,
  send: () => undefined,
};

/** Key of the timer that holds a flow which another began beside itself. */
export const besideKey = (flowId: string, id: string): string => `${FLOW_TIMERS}${flowId}:${id}`;

/** For one that is on its way to run: it is over, unless it is the one that was begun with this seed. */
interface OnlyOne {
  only: string | null;
}

/** @returns null when the flow was stopped, or begun anew, after its time had come */
export function readSent(sent: readonly unknown[], seed: string): Signal[] | null {
  const isOver = (one: unknown): boolean => "only" in (one as OnlyOne) && (one as OnlyOne).only !== seed;
  if (sent.some(isOver)) return null;
  return sent.filter((one): one is Signal => !("only" in (one as OnlyOne)));
}

/** What a flow does to flows beside it, as timers of the chat. */
export function besideOf(ctx: AnyContext, host: DialogueHost, timers: OwnTimer[]): Beside {
  /** Today's first. One that was begun under an earlier id of the flow, and has not run since, is still there under that. */
  const keysFor = (other: Flow<never>, id: string, call: string): [string, ...string[]] => {
    if (!host.knows(other as never))
      throw new FlowMistake(
        `f.${call}(): the bot does not know the flow ${JSON.stringify(other?.id)}. Make it with b.flow, or pass it to b.dialogue.`,
      );
    return [besideKey(other.id, id), ...(other.was ?? []).map((name) => besideKey(name, id))];
  };
  const end = (keys: readonly string[], only: string | null): void => {
    for (const key of keys) timers.push({ key, at: null });
    const signal: OnlyOne = { only };
    timers.push({ sentTo: keys }, { sentTo: keys, signal });
  };
  return {
    spawn(other, id, input) {
      const keys = keysFor(other, id, "spawn");
      const [key] = keys;
      const seed = ctx.idempotencyKey(key);
      end(keys, seed);
      timers.push({ key, at: ctx.now(), data: { state: newState(input, seed, id) } });
    },
    stop: (other, id) => end(keysFor(other, id, "stop"), null),
    send(other, id, signal, value) {
      const keys = keysFor(other, id, "send");
      const sent: Signal = { signal, value: value ?? null };
      timers.push({ sentTo: keys, signal: sent });
      for (const key of keys) timers.push({ key, at: "now" });
    },
  };
}
