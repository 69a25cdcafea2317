import { wordsIn } from "../dialogues/words.ts";
import type { OwnTimer, Turn } from "../types/dialogue.ts";
import { besideKey } from "./beside.ts";
import { over, type Advance, type FlowCode, type FlowTurnUnderWay } from "./code.ts";
import { FlowMistake } from "./errors.ts";
import type { Stop } from "./progress.ts";
import { isTooLong, type FlowState, type HeldAnswer, type OpenQuestion, type Sleep } from "./state.ts";
import type { Ran } from "./turn.ts";
import type { FlowEntry } from "./types.ts";

/** A flow beside another looks so often whether it may ask. */
const ASK_LATER_MS = 60_000;
/** What waits for a signal alone is looked at again after this time, and goes on waiting. */
const LONGEST_SLEEP_MS = 30 * 86_400_000;
const UNWRITTEN = new Set(["image", "video", "audio", "voice", "document", "sticker", "location", "contact"]);
const WANTED = { text: "wantText", file: "wantFile", location: "wantLocation" } as const;

/** Does what the code wanted, and makes of where it stands still what is stored. */
export async function settle(
  code: FlowCode,
  turn: FlowTurnUnderWay,
  state: FlowState,
  ran: Ran,
): Promise<Turn> {
  try {
    if (ran.stop.kind !== "threw") {
      ran.changeSession?.();
      for (const effect of ran.effects) effect();
    }
    return await after(code, turn, state, ran);
  } catch (error) {
    return broken(code, turn, error);
  }
}

/** An error in the author's code: nothing that this turn would have said is said. */
export function broken({ options }: FlowCode, turn: Advance, error: unknown): Turn {
  const { ctx } = turn;
  const { onError = { say: wordsIn(ctx.locale).failed } } = options;
  if (onError !== false) ctx.reply(ctx.t(onError.say));
  return over(turn, "failed", { error });
}

async function after(
  code: FlowCode,
  turn: FlowTurnUnderWay,
  state: FlowState,
  { stop, journal, held, signals }: Ran,
): Promise<Turn> {
  const { ctx, note, timers } = turn;
  const { policy } = code;
  const kept: FlowState = {
    ...state,
    entries: journal.entries(),
    open: null,
    sleep: null,
    failedTries: 0,
    held,
    signals,
  };
  const goOn = (open: OpenQuestion, what: string): Turn => keep(code, turn, { ...kept, open }, what);
  switch (stop.kind) {
    case "asking": {
      const open = await stop.word();
      stop.show(open);
      kept.held ??= heldFor(turn, state, kept.entries);
      return goOn(open, `${note}; ${stop.note}`);
    }
    case "sleeping":
      kept.held ??= heldFor(turn, state, kept.entries);
      return asleep(code, turn, { ...kept, failedTries: stop.failedTries }, stop.sleep);
    case "misunderstood":
      return misunderstood(code, turn, stop, goOn);
    case "gone":
      ctx.reply(policy.say(ctx, "gone"));
      stop.show();
      return goOn(stop.open, `${stop.what} is gone`);
    case "threw":
      return broken(code, turn, stop.error);
    default:
      return over(turn, `${note}; complete`, { timers });
  }
}

function keep(code: FlowCode, turn: FlowTurnUnderWay, state: FlowState, note: string): Turn {
  if (isTooLong(state))
    return broken(
      code,
      turn,
      new FlowMistake(`The journal of ${code.name} is larger than 1 MiB. Start over with f.again().`),
    );
  return { kind: "continue", state, note, timers: turn.timers };
}

function misunderstood(
  { policy }: FlowCode,
  { ctx, host }: Advance,
  stop: Extract<Stop, { kind: "misunderstood" }>,
  goOn: (open: OpenQuestion, note: string) => Turn,
): Turn {
  const { open, problem, wants } = stop;
  if (host.isRouted() || policy.routesMayAnswer || ctx.message.type === "poll_vote") return { kind: "pass" };
  if (UNWRITTEN.has(ctx.message.type)) {
    ctx.reply(policy.say(ctx, WANTED[wants]));
    stop.show();
    return goOn(open, `${open.key} is wanted as ${wants}`);
  }
  const tries = open.tries + 1;
  if (tries >= (stop.tries ?? policy.tries)) {
    ctx.reply(policy.say(ctx, "givenUp"));
    return { kind: "end", note: `${open.key} given up` };
  }
  ctx.reply(problem === null ? policy.say(ctx, "retry") : ctx.t(problem));
  stop.show();
  return goOn({ ...open, tries }, `${open.key} not understood`);
}

function asleep(code: FlowCode, turn: FlowTurnUnderWay, state: FlowState, sleep: Sleep): Turn {
  const { ctx, hasChat, note, timers } = turn;
  const isWaitingToAsk = sleep.at === null && sleep.signal === null;
  const at = isWaitingToAsk ? ctx.now() + ASK_LATER_MS : (sleep.at ?? ctx.now() + LONGEST_SLEEP_MS);
  const next = { ...state, sleep };
  const what = `${note}; ${sleep.key} waits`;
  if (state.beside === null) {
    const turned = keep(code, turn, next, what);
    return turned.kind === "continue" ? { ...turned, wakeAt: at } : turned;
  }
  const timer: OwnTimer = { key: besideKey(code.id, state.beside), at, data: { state: next } };
  return { kind: hasChat ? "end" : "aside", note: what, timers: [...timers, timer] };
}

/** A person has answered one question, and the code now asks another first: what was written is kept for the one it was for. */
function heldFor(
  { ctx, push }: Advance,
  { open }: FlowState,
  entries: readonly FlowEntry[],
): HeldAnswer | null {
  if (push?.kind !== "answer" || open === null || ctx.message.type !== "text") return null;
  const wasReached = entries.some(({ key }) => key === open.key);
  if (wasReached) return null;
  const { key, shown, items, locale, of } = open;
  return {
    key,
    shown,
    ...(items && { items }),
    ...(locale !== undefined && { locale }),
    ...(of !== undefined && { of }),
    text: ctx.text,
  };
}
