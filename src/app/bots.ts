import bundledBots, { locales as bundledLocales, sources as botSources } from "#bots";
import type { LoadBotsInput } from "../bot/files/load.ts";
import { loadBots } from "../bot/files/load.ts";
import { readReport, report } from "../bot/forecast/report.ts";
import type { ForecastGuard } from "../bot/forecast/guard.ts";
import { openBots, type Bots } from "../bot/files/reload.ts";
import type { Config } from "../config.ts";
import { createLogger, type Logger } from "../log.ts";
import { StartError } from "../model/errors/errors.ts";
import { openReadOnly } from "../store/file/read-only.ts";

/** Argument of a build: it says what becomes of what is stored, and ends. */
export const CHECK_BOTS = "--check-bots";
/** What a start ends with when the bots do not fit what is stored, and `--strict` was given. */
const MISFITS_CODE = 3;
const MOST_LINES = 10;

const inputOf = ({ botsDir }: Pick<Config, "botsDir">, log: Logger): LoadBotsInput => ({
  buildTime: bundledBots,
  buildTimeLocales: bundledLocales,
  botsDir,
  log,
});

/**
 * The bots of the build and of BOTS_DIR.
 *
 * @param guard with `--strict` asked before bots run that were loaded anew
 */
export function openAllBots(config: Config, log: Logger, guard: ForecastGuard): Promise<Bots> {
  return openBots({
    ...inputOf(config, log),
    // `nitro dev` only: a build holds its bots, and nothing of what reads sources.
    ...(import.meta.dev &&
      botSources !== null && {
        live: async () => (await import("../bot/files/live.ts")).liveBots(botSources!),
      }),
    ...(config.botsStrict && { refuse: guard.refuse }),
  });
}

/** @throws {StartError} when something that is stored does not fit these bots */
export async function refuseMisfits(guard: ForecastGuard, bots: Bots): Promise<void> {
  const refused = await guard.refuse(bots);
  if (refused === null) return;
  const lines = [...refused.values()];
  const more = lines.length > MOST_LINES ? `; and ${lines.length - MOST_LINES} more` : "";
  throw new StartError(
    `The bots do not fit the stored data, and --strict (BOTS_STRICT) refuses that: ${lines.slice(0, MOST_LINES).join("; ")}${more}. Fix the bots, or start without strict mode.`,
    MISFITS_CODE,
  );
}

/** `--check-bots`: reads the data of a gateway that may be running, says what these bots make of it, and writes nothing. */
export async function checkBuiltBots(config: Config, args: readonly string[]): Promise<number> {
  // Standard output is the report's.
  const log = createLogger(config, { write: (line) => void process.stderr.write(line) });
  const store = await openReadOnly(config);
  try {
    const loaded = await loadBots(inputOf(config, log));
    return await report(
      store,
      loaded,
      readReport(args, (line) => void process.stdout.write(`${line}\n`)),
    );
  } finally {
    store.close();
  }
}
