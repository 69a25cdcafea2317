import type { Logger } from "../../log.ts";
import type { Store } from "../../store/store.ts";
import type { LoadedBots } from "../files/load.ts";
import { lookAhead } from "./look-ahead.ts";
import { sentencesOf } from "./sentences.ts";
import { lostOf, misfitsOf } from "./tally.ts";
import type { Forecast } from "./types.ts";

/** Looks at what is stored with the bots that run, or that are about to. */
export interface ForecastGuard {
  /** Says in the log what becomes of what is stored, in the background; a second call begins anew. */
  look(loaded: LoadedBots): void;
  /**
   * Why these bots may not run, by bot: what of it does not fit. Everything is read before it answers.
   *
   * @returns null: everything fits
   */
  refuse(loaded: LoadedBots): Promise<Map<string, string> | null>;
  /** Resolves when nothing is read any more. */
  stop(): Promise<void>;
}

/** Between two pages, so that messages are handled meanwhile as fast as ever. */
const PAUSE_MS = 100;

/** Thrown between two pages: somebody else's turn. */
class Stopped extends Error {}

/** @param store it reads only */
export function createForecastGuard(
  store: Pick<Store, "pages" | "box" | "now" | "time">,
  log: Logger,
): ForecastGuard {
  let turn = 0;
  let running: Promise<void> = Promise.resolve();

  async function lookPolitely(loaded: LoadedBots, mine: number): Promise<void> {
    const between = async (): Promise<void> => {
      await store.time.pause(PAUSE_MS);
      if (turn !== mine) throw new Stopped();
    };
    try {
      sayInLog(log, await lookAhead(store, loaded, { between }));
    } catch (err) {
      if (!(err instanceof Stopped)) log.warn({ err }, "could not check stored data against these bots");
    }
  }

  return {
    look(loaded) {
      const mine = ++turn;
      running = running.then(() => (turn === mine ? lookPolitely(loaded, mine) : undefined));
    },
    async refuse(loaded) {
      const found = await lookAhead(store, loaded);
      if (found.misfits === 0) return null;
      const wrong = new Set(found.bots.filter((bot) => misfitsOf(bot) > 0).map(({ bot }) => bot));
      const lines = sentencesOf(found).filter(({ bot }) => wrong.has(bot));
      // The first line of a bot is about all of it.
      return new Map(lines.toReversed().map(({ bot, text }) => [bot, text]));
    },
    async stop() {
      turn++;
      await running;
    },
  };
}

function sayInLog(log: Logger, found: Forecast): void {
  const byId = new Map(found.bots.map((bot) => [bot.bot, bot]));
  for (const { bot, text } of sentencesOf(found)) {
    const of = byId.get(bot);
    const [lost, misfits] = of === undefined ? [0, 0] : [lostOf(of), misfitsOf(of)];
    if (misfits > 0) log.warn({ bot, lost, misfits }, text);
    else log.info(bot === "" ? {} : { bot }, text);
  }
}
