import { readPolicy } from "../dialogues/texts.ts";
import type { AnyContext, DialogueHost } from "../types/context.ts";
import type { Resumed, Turn } from "../types/dialogue.ts";
import { MOST_SIGNALS } from "../timers/signal-rows.ts";
import { advance, runOf } from "./advance.ts";
import { besideKey, NOTHING_BESIDE, readSent } from "./beside.ts";
import type { Advance, FlowCode } from "./code.ts";
import { foreseeFlow } from "./foresee.ts";
import { newState, readState, type FlowState, type Signal } from "./state.ts";
import { take } from "./take.ts";
import type { Flow, FlowFunction, FlowOptions } from "./types.ts";

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
  const code: FlowCode = { id, name, options, policy, body: body as FlowFunction<never, unknown> };
  return {
    kind: "flow",
    id,
    idle: policy.idle,
    was: policy.was,
    body,
    begin(ctx, input, host) {
      const state = newState(input, ctx.idempotencyKey(`flow:${id}`), null);
      return advance(code, state, { ...inChat(ctx, host), push: null, note: "begun" });
    },
    take: (ctx, stored, host) => take(code, ctx, stored, host),
    comeBack(ctx, stored, host) {
      const state = readState(stored);
      if (state === null || state.open === null) return { kind: "pass" };
      return askAgain(code, ctx, state, host, "come back to");
    },
    wake(ctx, stored, host) {
      const state = readState(stored);
      return state === null ? { kind: "end" } : wake(code, state, inChat(ctx, host));
    },
    resume: (ctx, data, host, how) => resume(code, ctx, data, host, how),
    async foresee(ctx, stored) {
      const state = readState(stored);
      if (state === null) return { kind: "ends" };
      return foreseeFlow(runOf(code, NOTHING_BESIDE, state.input), ctx, state, options.onChange ?? "end");
    },
    async remind(ctx, stored, host) {
      const state = readState(stored);
      if (texts.reminder !== undefined) ctx.reply(ctx.t(texts.reminder));
      if (state === null || state.open === null) return stored;
      const asked = await askAgain(code, ctx, state, host, "reminded");
      return asked.kind === "continue" ? asked.state : stored;
    },
    expired(ctx) {
      if (texts.expired !== undefined) ctx.reply(ctx.t(texts.expired));
    },
  };
}

type Place = Omit<Advance, "push" | "note">;

const inChat = (ctx: AnyContext, host: DialogueHost): Place => ({ ctx, host, hasChat: true, mayAsk: true });

const askAgain = (
  code: FlowCode,
  ctx: AnyContext,
  state: FlowState,
  host: DialogueHost,
  note: string,
): Promise<Turn> => advance(code, state, { ...inChat(ctx, host), push: { kind: "asked_again" }, note });

const wake = (code: FlowCode, state: FlowState, place: Place): Promise<Turn> =>
  advance(code, state, { ...place, push: { kind: "woken" }, note: "woken" });

/** A flow that another began beside itself, when its time has come or something was sent to it. */
async function resume(
  code: FlowCode,
  ctx: AnyContext,
  data: unknown,
  host: DialogueHost,
  { isBusy, sent }: Resumed,
): Promise<Turn> {
  // Earlier versions put what was sent into the row itself.
  const { state: stored, sent: before = [] } = data as { state: unknown; sent?: Signal[] };
  const state = readState(stored);
  if (state === null || state.beside === null) return { kind: "aside" };
  const { beside } = state;
  const sentTo = [code.id, ...(code.policy.was ?? [])].map((name) => besideKey(name, beside));
  const taken = readSent(await sent(sentTo), state.seed);
  if (taken === null) return { kind: "aside", note: "stopped meanwhile" };
  const signals = [...state.signals, ...before, ...taken].slice(-MOST_SIGNALS);
  const turn = await wake(code, { ...state, signals }, { ctx, host, hasChat: false, mayAsk: !isBusy });
  return turn.kind === "pass" ? turn : { ...turn, timers: [{ sentTo }, ...(turn.timers ?? [])] };
}
