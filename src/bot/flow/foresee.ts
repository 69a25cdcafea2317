import type { AnyContext } from "../types/context.ts";
import type { Foreseen } from "../types/dialogue.ts";
import type { Stop } from "./progress.ts";
import type { FlowState } from "./state.ts";
import { runTurn, type FlowTurn } from "./turn.ts";
import type { OnChange } from "./types.ts";

type Code = (turn: FlowTurn) => unknown;

/**
 * Runs the code of a flow over a stored journal, and stops at the first thing that would be done, asked or waited for. Nothing
 * is done, said or kept.
 *
 * @param onChange what the author wants when the code cannot go on with the journal
 */
export async function foreseeFlow(
  code: Code,
  ctx: AnyContext,
  state: FlowState,
  onChange: OnChange,
): Promise<Foreseen> {
  const stoodAt = state.open?.key ?? state.sleep?.key ?? null;
  // It was begun beside another, and none of its code has run.
  if (stoodAt === null) return { kind: "goes_on" };
  const stop = await stopOf(code, ctx, state);
  if (stop.kind === "changed") return foreseeChange(code, ctx, state, onChange);
  return fromStop(stop, stoodAt);
}

const stopOf = async (code: Code, ctx: AnyContext, state: FlowState): Promise<Stop> =>
  (await runTurn(code, ctx, state, { push: { kind: "foreseen" }, mayAsk: true })).stop;

function fromStop(stop: Stop, stoodAt: string | null): Foreseen {
  switch (stop.kind) {
    case "arrived":
      return { kind: "goes_on", gone: stop.gone };
    case "asking":
      // It was waiting to ask, because somebody else had the chat.
      if (stop.key === stoodAt) return { kind: "goes_on" };
      return { kind: stop.wasAnswered ? "asked_again" : "asked_new", key: stop.key };
    case "ahead":
      return { kind: stop.will, key: stop.key };
    case "again":
      return { kind: "restarts" };
    case "threw":
      return { kind: "fails", error: stop.error };
    default:
      return { kind: "ends" };
  }
}

async function foreseeChange(
  code: Code,
  ctx: AnyContext,
  state: FlowState,
  onChange: OnChange,
): Promise<Foreseen> {
  if (onChange === "restart") return { kind: "restarts" };
  if (typeof onChange !== "function") return { kind: "ends" };
  let stop: Stop;
  try {
    const entries = onChange(structuredClone(state.entries));
    if (entries === null) return { kind: "ends" };
    stop = await stopOf(code, ctx, { ...state, entries: [...entries], open: null, sleep: null });
  } catch (error) {
    return { kind: "fails", error };
  }
  if (stop.kind === "asking" || stop.kind === "ahead") return { kind: "migrates", key: stop.key };
  return fromStop(stop, null);
}
