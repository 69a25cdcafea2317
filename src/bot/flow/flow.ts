import { createHash } from "node:crypto";
import { chosen } from "../dialogues/choices.ts";
import { readPolicy } from "../dialogues/texts.ts";
import { wordsIn } from "../dialogues/words.ts";
import type { AnyContext, DialogueHost } from "../types/context.ts";
import type { OwnTimer, Turn } from "../types/dialogue.ts";
import { flowContext, type Beside } from "./context.ts";
import { FlowMistake } from "./errors.ts";
import { foreseeFlow } from "./foresee.ts";
import { refuseImpurity } from "./purity.ts";
import { nameOf, readRepair } from "./repair.ts";
import {
  isTooLong,
  newState,
  readState,
  type FlowState,
  type HeldAnswer,
  type OpenQuestion,
  type Signal,
  type Sleep,
} from "./state.ts";
import type { Push, Stop } from "./progress.ts";
import { runTurn, type Ran } from "./turn.ts";
import { MOST_SIGNALS } from "../timers/signal-rows.ts";
import { FLOW_TIMERS } from "../timers/timer-rows.ts";
import type { Flow, FlowEntry, FlowFunction, FlowOptions } from "./types.ts";

/** A flow that begins itself anew without asking anybody is a loop. */
const MOST_AGAIN = 10;
/** A flow beside another looks so often whether it may ask. */
const ASK_LATER_MS = 60_000;
/** What waits for a signal alone is looked at again after this time, and goes on waiting. */
const LONGEST_SLEEP_MS = 30 * 86_400_000;
const UNWRITTEN = new Set(["image", "video", "audio", "voice", "document", "sticker", "location", "contact"]);
const WANTED = { text: "wantText", file: "wantFile", location: "wantLocation" } as const;

/** What one turn brings besides the state. */
interface Advance {
  ctx: AnyContext;
  host: DialogueHost;
  push: Push | null;
  /** Whether it has the chat, or goes on beside what happens there. */
  hasChat: boolean;
  /** False: another conversation has the chat. */
  mayAsk: boolean;
  note: string;
}

/**
 * Describes a conversation as a function that reads from top to bottom. The flow's journal stores what it has got, by key.
 * After a restart, the flow continues where it was, also when its code has changed.
 *
 * @param id unique within the bot; it is stored
 */
export function flow<Input = undefined, Output = unknown>(
  id: string,
  options: FlowOptions,
  body: FlowFunction<Input, Output>,
): Flow<Input, Output> {
  const name = `flow(${JSON.stringify(id)})`;
  if (typeof body !== "function") throw new TypeError(`${name} needs a function: async (f) => { … }.`);
  const policy = readPolicy(name, options, "ask_again");
  const { texts } = policy;

  /** Runs the code until it stands still, and turns that into what is stored. */
  async function advance(state: FlowState, turn: Advance): Promise<Turn> {
    const { ctx, host, mayAsk } = turn;
    const timers: OwnTimer[] = [];
    const beside = besideOf(ctx, host, timers);
    let current = state;
    let { push } = turn;
    const effects: Ran["effects"] = [];
    for (let begun = 0; begun < MOST_AGAIN; begun++) {
      const input = current.input;
      const run: Parameters<typeof runTurn>[0] = (running) =>
        body(flowContext(running, beside, input) as never);
      const ran = await runTurn(run, ctx, current, { push, mayAsk });
      const { stop } = ran;
      if (stop.kind !== "changed") effects.push(...ran.effects);
      if (stop.kind !== "changed" && stop.kind !== "again") {
        const problem = host.checksFlows ? await impurityOf(run, ctx, current, ran) : null;
        return problem === null ? settle(turn, current, { ...ran, effects }, timers) : broken(turn, problem);
      }
      let next: FlowState | null;
      try {
        next = stop.kind === "again" ? begunAnew(current, stop.input) : changed(turn, current, stop.key);
      } catch (error) {
        return broken(turn, error);
      }
      if (next === null) return over(turn, "the code has changed");
      current = next;
      push = null;
    }
    const error = new FlowMistake(`${name} started over ${MOST_AGAIN} times without asking a question.`);
    return broken(turn, error);
  }

  /** The code cannot go on with what was kept. @returns what it goes on with instead; null: it ends */
  function changed({ ctx }: Advance, state: FlowState, key: string): FlowState | null {
    const { onChange = { say: wordsIn(ctx.locale).changed } } = options;
    ctx.log.warn(
      { flow: id, key },
      "the code of a flow has changed, and an open conversation does not fit the new code",
    );
    if (onChange === "restart") return newState(state.input, state.seed, state.beside);
    if (typeof onChange === "function") {
      const entries = onChange(state.entries);
      if (entries !== null) return { ...state, entries: [...entries], open: null, sleep: null };
    } else if (onChange !== "end") ctx.reply(ctx.t(onChange.say));
    return null;
  }

  /** Does what the code wanted, and makes of where it stands still what is stored. */
  async function settle(turn: Advance, state: FlowState, ran: Ran, timers: OwnTimer[]): Promise<Turn> {
    try {
      if (ran.stop.kind !== "threw") for (const effect of ran.effects) effect();
      return await after(turn, state, ran, timers);
    } catch (error) {
      return broken(turn, error);
    }
  }

  async function after(
    turn: Advance,
    state: FlowState,
    { stop, journal, held, signals }: Ran,
    timers: OwnTimer[],
  ): Promise<Turn> {
    const { ctx, note } = turn;
    const kept: FlowState = {
      ...state,
      entries: journal.entries(),
      open: null,
      sleep: null,
      failedTries: 0,
      held,
      signals,
    };
    const goOn = (open: OpenQuestion, what: string): Turn => keep(turn, { ...kept, open }, what, timers);
    switch (stop.kind) {
      case "asking": {
        const open = await stop.word();
        stop.show(open);
        kept.held ??= heldFor(turn, state, kept.entries);
        return goOn(open, `${note}; ${stop.note}`);
      }
      case "sleeping":
        kept.held ??= heldFor(turn, state, kept.entries);
        return asleep(turn, { ...kept, failedTries: stop.failedTries }, stop.sleep, timers);
      case "misunderstood":
        return misunderstood(turn, stop, goOn);
      case "gone":
        ctx.reply(policy.say(ctx, "gone"));
        stop.show();
        return goOn(stop.open, `${stop.what} is gone`);
      case "threw":
        return broken(turn, stop.error);
      default:
        return over(turn, `${note}; complete`, { timers });
    }
  }

  /** An error in the author's code: nothing that this turn would have said is said. */
  function broken(turn: Advance, error: unknown): Turn {
    const { ctx } = turn;
    const { onError = { say: wordsIn(ctx.locale).failed } } = options;
    if (onError !== false) ctx.reply(ctx.t(onError.say));
    return over(turn, "failed", { error });
  }

  function keep(turn: Advance, state: FlowState, note: string, timers: OwnTimer[]): Turn {
    if (isTooLong(state))
      return broken(
        turn,
        new FlowMistake(`The journal of ${name} is larger than 1 MiB. Start over with f.again().`),
      );
    return { kind: "continue", state, note, timers };
  }

  function misunderstood(
    { ctx, host }: Advance,
    stop: Extract<Stop, { kind: "misunderstood" }>,
    goOn: (open: OpenQuestion, note: string) => Turn,
  ): Turn {
    const { open, problem, wants } = stop;
    if (host.isRouted() || policy.routesMayAnswer || ctx.message.type === "poll_vote")
      return { kind: "pass" };
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

  function asleep(turn: Advance, state: FlowState, sleep: Sleep, timers: OwnTimer[]): Turn {
    const { ctx, hasChat, note } = turn;
    const isWaitingToAsk = sleep.at === null && sleep.signal === null;
    const at = isWaitingToAsk ? ctx.now() + ASK_LATER_MS : (sleep.at ?? ctx.now() + LONGEST_SLEEP_MS);
    const next = { ...state, sleep };
    const what = `${note}; ${sleep.key} waits`;
    if (state.beside === null) {
      const turned = keep(turn, next, what, timers);
      return turned.kind === "continue" ? { ...turned, wakeAt: at } : turned;
    }
    const timer: OwnTimer = { key: besideKey(id, state.beside), at, data: { state: next } };
    return { kind: hasChat ? "end" : "aside", note: what, timers: [...timers, timer] };
  }

  function cancel(ctx: AnyContext): Turn {
    ctx.reply(policy.say(ctx, "cancelled"));
    return { kind: "end", note: "cancelled" };
  }

  async function take(ctx: AnyContext, stored: unknown, host: DialogueHost): Promise<Turn> {
    const state = readState(stored);
    if (state === null) return { kind: "end", note: "what is stored is no flow's" };
    const { open } = state;
    if (open !== null && ctx.message.type === "edit") return edited(ctx, state);
    if (open === null || !policy.isAnswer(ctx)) return { kind: "pass" };
    const isOffered = open.shown.options !== null && chosen(ctx, open.shown) !== null;
    if (!isOffered && policy.isCancel(ctx)) return cancel(ctx);
    const repair = isOffered ? null : readRepair(ctx, state);
    const turn = { ctx, host, hasChat: true, mayAsk: true };
    if (repair === null)
      return advance(state, { ...turn, push: { kind: "answer" }, note: `${open.key} answered` });
    const key = repair.kind === "reopen" ? repair.key : null;
    const note = key === null ? `${open.key} repeated` : `${key} reopened`;
    return advance(key === null ? state : reopened(state, key), {
      ...turn,
      push: { kind: "asked_again" },
      note,
    });
  }

  const wake = (state: FlowState, turn: Omit<Advance, "push" | "note">): Promise<Turn> =>
    advance(state, { ...turn, push: { kind: "woken" }, note: "woken" });

  return {
    kind: "flow",
    id,
    idle: policy.idle,
    was: policy.was,
    body,
    begin(ctx, input, host) {
      const state = newState(input, ctx.idempotencyKey(`flow:${id}`), null);
      return advance(state, { ctx, host, push: null, hasChat: true, mayAsk: true, note: "begun" });
    },
    take,
    comeBack(ctx, stored, host) {
      const state = readState(stored);
      if (state === null || state.open === null) return { kind: "pass" };
      const turn = { ctx, host, hasChat: true, mayAsk: true, note: "come back to" };
      return advance(state, { ...turn, push: { kind: "asked_again" } });
    },
    wake(ctx, stored, host) {
      const state = readState(stored);
      if (state === null) return { kind: "end" };
      return wake(state, { ctx, host, hasChat: true, mayAsk: true });
    },
    async resume(ctx, data, host, { isBusy, sent }) {
      // Earlier versions put what was sent into the row itself.
      const { state: stored, sent: before = [] } = data as { state: unknown; sent?: Signal[] };
      const state = readState(stored);
      if (state === null || state.beside === null) return { kind: "aside" };
      const { beside } = state;
      const sentTo = [id, ...(policy.was ?? [])].map((name) => besideKey(name, beside));
      const taken = readSent(await sent(sentTo), state.seed);
      if (taken === null) return { kind: "aside", note: "stopped meanwhile" };
      const signals = [...state.signals, ...before, ...taken].slice(-MOST_SIGNALS);
      const turn = await wake({ ...state, signals }, { ctx, host, hasChat: false, mayAsk: !isBusy });
      return turn.kind === "pass" ? turn : { ...turn, timers: [{ sentTo }, ...(turn.timers ?? [])] };
    },
    async foresee(ctx, stored) {
      const state = readState(stored);
      if (state === null) return { kind: "ends" };
      const code: Parameters<typeof runTurn>[0] = (running) =>
        body(flowContext(running, NOTHING_BESIDE, state.input) as never);
      return foreseeFlow(code, ctx, state, options.onChange ?? "end");
    },
    async remind(ctx, stored, host) {
      const state = readState(stored);
      if (texts.reminder !== undefined) ctx.reply(ctx.t(texts.reminder));
      if (state === null || state.open === null) return stored;
      const turn = { ctx, host, hasChat: true, mayAsk: true, note: "reminded" };
      const asked = await advance(state, { ...turn, push: { kind: "asked_again" } });
      return asked.kind === "continue" ? asked.state : stored;
    },
    expired(ctx) {
      if (texts.expired !== undefined) ctx.reply(ctx.t(texts.expired));
    },
  };
}

/** What was done with an answer is done: its message may be changed, the answer is changed by asking for it. */
function edited(ctx: AnyContext, state: FlowState): Turn {
  const used = state.entries.find(
    ({ kind, message }) => kind === "answer" && message !== undefined && message === ctx.message.targetId,
  );
  if (used === undefined) return { kind: "pass" };
  ctx.reply(wordsIn(ctx.locale).edited.replace("{name}", () => nameOf(used.key)));
  return { kind: "continue", state, note: `a change of ${used.key} is not applied` };
}

/** Where nothing may be done. */
const NOTHING_BESIDE: Beside = { spawn: () => undefined, stop: () => undefined, send: () => undefined };

/** It has ended; the chat's dialogue with it, when it was that. */
const over = (
  { hasChat }: Advance,
  note: string,
  more: Pick<Turn & { kind: "end" }, "error" | "timers"> = {},
): Turn => ({
  kind: hasChat ? "end" : "aside",
  note,
  ...more,
});

/** What differs when the code runs again, null when nothing does. */
const impurityOf = (...run: Parameters<typeof refuseImpurity>): Promise<unknown> =>
  refuseImpurity(...run).then(
    () => null,
    (error: unknown) => error,
  );

/** What is done from now on is something else than what was done before, though it has the same keys. */
function begunAnew({ seed, beside }: FlowState, input: unknown): FlowState {
  return newState(input, createHash("sha256").update(seed).digest("base64url"), beside);
}

/** The answer under a key is forgotten, and its question open again; all else that was answered stays. */
function reopened(state: FlowState, key: string): FlowState {
  const entries = state.entries.filter((entry) => entry.key !== key);
  const shown = { text: "", options: null };
  return { ...state, entries, open: { key, shown, tries: 0, isReopened: true } };
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

/** Key of the timer that holds a flow which another began beside itself. */
const besideKey = (flowId: string, id: string): string => `${FLOW_TIMERS}${flowId}:${id}`;

/** For one that is on its way to run: it is over, unless it is the one that was begun with this seed. */
interface OnlyOne {
  only: string | null;
}

/** @returns null when the flow was stopped, or begun anew, after its time had come */
function readSent(sent: readonly unknown[], seed: string): Signal[] | null {
  const isOver = (one: unknown): boolean => "only" in (one as OnlyOne) && (one as OnlyOne).only !== seed;
  if (sent.some(isOver)) return null;
  return sent.filter((one): one is Signal => !("only" in (one as OnlyOne)));
}

function besideOf(ctx: AnyContext, host: DialogueHost, timers: OwnTimer[]): Beside {
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
