import type { CommandsContraints, Parameters } from "fast-check";

/** The same runs every time: whoever changes something must not get another's find. `PROPERTY_RUNS` looks elsewhere. */
const USUAL_SEED = 20_261_121;

/**
 * How often a property is tried. `PROPERTY_RUNS` asks for more, `PROPERTY_SEED` (with `PROPERTY_PATH` and
 * `PROPERTY_REPLAY`) for those of a failure: it prints all of them, and the commands that led to it.
 */
export function runs<T>(usually: number): Parameters<T> {
  const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_PATH } = process.env;
  return {
    numRuns: Number(PROPERTY_RUNS ?? usually),
    ...(PROPERTY_SEED ? { seed: Number(PROPERTY_SEED) } : PROPERTY_RUNS ? {} : { seed: USUAL_SEED }),
    ...(PROPERTY_PATH && { path: PROPERTY_PATH }),
    includeErrorInReport: true,
  };
}

/** How long a row of commands gets. `PROPERTY_REPLAY` takes the `replayPath` of a failure. */
export function commandRuns(maxCommands: number): CommandsContraints {
  const { PROPERTY_REPLAY } = process.env;
  return { maxCommands, size: "max", ...(PROPERTY_REPLAY && { replayPath: PROPERTY_REPLAY }) };
}

/** Vitest's own limit for such a test, milliseconds. */
export const TIME_LIMIT_MS = process.env.PROPERTY_RUNS ? 3_700_000 : 300_000;
