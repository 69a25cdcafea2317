import { createHash } from "node:crypto";
import { wordsIn } from "../dialogues/words.ts";
import type { Turn } from "../types/dialogue.ts";
import { besideOf } from "./beside.ts";
import { over, type Advance, type FlowCode, type FlowTurnUnderWay } from "./code.ts";
import { flowContext, type Beside } from "./context.ts";
import { FlowMistake } from "./errors.ts";
import { refuseImpurity } from "./purity.ts";
import { broken, settle } from "./settle.ts";
import { newState, type FlowState } from "./state.ts";
import { runTurn, type FlowTurn, type Ran } from "./turn.ts";

/** A flow that begins itself anew without asking anybody is a loop. */
const MOST_AGAIN = 10;

/** The author's function, ready for one run. */
export const runOf =
  ({ body }: FlowCode, beside: Beside, input: unknown) =>
  (running: FlowTurn): unknown =>
    body(flowContext(running, beside), input as never);

/** Runs the code until it stands still, and turns that into what is stored. */
export async function advance(code: FlowCode, state: FlowState, begun: Advance): Promise<Turn> {
  const turn: FlowTurnUnderWay = { ...begun, timers: [] };
  const { ctx, host, mayAsk } = turn;
  const beside = besideOf(ctx, host, turn.timers);
  let current = state;
  let { push } = turn;
  const effects: Ran["effects"] = [];
  for (let times = 0; times < MOST_AGAIN; times++) {
    const run = runOf(code, beside, current.input);
    const ran = await runTurn(run, ctx, current, { push, mayAsk });
    const { stop } = ran;
    if (stop.kind !== "changed") effects.push(...ran.effects);
    if (stop.kind !== "changed" && stop.kind !== "again") {
      const problem = host.checksFlows ? await impurityOf(run, ctx, current, ran) : null;
      return problem === null
        ? settle(code, turn, current, { ...ran, effects })
        : broken(code, turn, problem);
    }
    let next: FlowState | null;
    try {
      // The run that follows reads it.
      if (stop.kind === "again") ran.changeSession?.();
      next = stop.kind === "again" ? begunAnew(current, stop.input) : changed(code, turn, current, stop.key);
    } catch (error) {
      return broken(code, turn, error);
    }
    if (next === null) return over(turn, "the code has changed");
    current = next;
    push = null;
  }
  const error = new FlowMistake(`${code.name} started over ${MOST_AGAIN} times without asking a question.`);
  return broken(code, turn, error);
}

/** The code cannot go on with what was kept. @returns what it goes on with instead; null: it ends */
function changed(
  { id, options }: FlowCode,
  { ctx }: Advance,
  state: FlowState,
  key: string,
): FlowState | null {
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
