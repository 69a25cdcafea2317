import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import type { Stop } from "./progress.ts";
import type { FlowState, Sleep } from "./state.ts";
import { runTurn, type FlowTurn, type Ran } from "./turn.ts";

/** Later by something that no code counts on. */
const SHIFT_MS = 26 * 3_600_000 + 123_457;
const OTHER_CHANCE = 0.123_456;

/** Nothing is ever at this key: a flow that has ended runs over all that it has got and comes to its end. */
const END: Sleep = { key: "\0end", at: null, signal: null };

/**
 * Runs the code of a flow once more over what it has got, at another time and with other chance: it must stand still at the same
 * place. Nothing is said, and nothing is done: a step that is not in the journal is a difference.
 *
 * @param first how it went
 * @throws {FlowMistake} that says what differs
 */
export async function refuseImpurity(
  body: (turn: FlowTurn) => unknown,
  ctx: AnyContext,
  before: FlowState,
  first: Ran,
): Promise<void> {
  const { stop } = first;
  const isTriedAgain = stop.kind === "sleeping" && (stop.failedTries > 0 || isWaitingToAsk(stop.sleep));
  if ((stop.kind !== "asking" && stop.kind !== "sleeping" && stop.kind !== "ended") || isTriedAgain) return;
  const open = stop.kind === "asking" ? await stop.word() : null;
  const sleep = stop.kind === "sleeping" ? stop.sleep : stop.kind === "ended" ? END : null;
  const { journal, held, signals } = first;
  const state = { ...before, entries: journal.entries(), open, sleep, held, signals };
  const undone = (key: string): never => {
    throw new FlowMistake(differs(`does the step ${JSON.stringify(key)}`, "did not"));
  };
  const shifted = Object.create(ctx, {
    now: { value: () => ctx.now() + (stop.kind === "sleeping" ? 0 : SHIFT_MS) },
    step: { value: undone },
  }) as AnyContext;
  const second = (await elsewhen(() => runTurn(body, shifted, state, { push: null, mayAsk: true }))).stop;
  if (second.kind === "threw") throw second.error;
  if (placeOf(second) !== placeOf(stop)) throw new FlowMistake(differs(placeOf(second), placeOf(stop)));
  if (second.kind !== "asking" || open === null) return;
  const { shown } = await elsewhen(second.word);
  if (shown.text !== open.shown.text || labels(shown) !== labels(open.shown))
    throw new FlowMistake(
      `The question ${JSON.stringify(second.key)} changes when the flow runs again: ${JSON.stringify(shown.text)} instead of ${JSON.stringify(open.shown.text)}. ${CURE}`,
    );
}

const isWaitingToAsk = ({ at, signal }: Sleep): boolean => at === null && signal === null;

const CURE =
  "A flow's code runs again at every message: take the time from f.now(), random values from f.random(), and outside data from f.step().";

const differs = (now: string, first: string): string =>
  `The flow ${now} when it runs again, and ${first} the first time. ${CURE}`;

const labels = ({ options }: { options: readonly { label: string }[] | null }): string =>
  JSON.stringify(options?.map(({ label }) => label) ?? null);

function placeOf(stop: Stop): string {
  if (stop.kind === "asking") return `asks ${JSON.stringify(stop.key)}`;
  if (stop.kind === "sleeping") return `waits at ${JSON.stringify(stop.sleep.key)}`;
  return stop.kind === "ended" || (stop.kind === "changed" && stop.key === END.key)
    ? "ends"
    : "goes another way";
}

/** With `Date.now`, `new Date` and `Math.random` of another day. */
async function elsewhen<T>(work: () => Promise<T>): Promise<T> {
  const real = { Date: globalThis.Date, random: Math.random };
  const Shifted = class extends real.Date {
    constructor(...args: []) {
      // Only the present is another.
      super(...(args.length === 0 ? ([real.Date.now() + SHIFT_MS] as unknown as []) : args));
    }
    static override now = (): number => real.Date.now() + SHIFT_MS;
  };
  globalThis.Date = Shifted as DateConstructor;
  Math.random = () => OTHER_CHANCE;
  try {
    return await work();
  } finally {
    globalThis.Date = real.Date;
    Math.random = real.random;
  }
}
