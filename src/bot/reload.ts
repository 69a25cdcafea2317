import { GatewayError, StartError } from "../model/errors.ts";
import type { LiveBots } from "./live.ts";
import { loadBots, type LoadBotsInput, type LoadedBots } from "./load.ts";
import type { BotRecord, BotRegistry } from "./registry.ts";

/** The bots in force; `registry` and `locales` are those of the last reading. */
export interface Bots extends Readonly<LoadedBots> {
  /**
   * Reads all bots again. Whoever runs ends with the old code, connections stay. One at a time, in the order of asking.
   *
   * @param use puts what was read in force
   * @throws {GatewayError} UNAVAILABLE when BOTS_DIR cannot be read: all bots stay as they are
   */
  reload(use: (registry: BotRegistry) => Promise<void>): Promise<BotRecord[]>;
}

interface BotsInput extends Omit<LoadBotsInput, "previous"> {
  /** In development: the bots of the sources as they are now, instead of those of the build. */
  live?: () => Promise<LiveBots>;
}

/**
 * Bots that can be read again while the gateway runs.
 *
 * @throws {StartError} when BOTS_DIR is not a folder that can be read
 */
export async function openBots(input: BotsInput): Promise<Bots> {
  const { live } = input;
  const now = async (): Promise<LoadBotsInput> => {
    if (live === undefined) return input;
    const { bots, locales } = await live();
    return { ...input, buildTime: bots, buildTimeLocales: locales };
  };
  let loaded = await loadBots(await now());
  let last: Promise<unknown> = Promise.resolve();

  async function readAgain(use: (registry: BotRegistry) => Promise<void>): Promise<BotRecord[]> {
    try {
      const next = await loadBots({ ...(await now()), previous: loaded });
      loaded = next;
      await use(next.registry);
      return next.registry.list();
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      input.log.error({ err: error }, "bots are not loaded again: all stay as they are");
      throw new GatewayError("UNAVAILABLE", error.message);
    }
  }

  return {
    get registry() {
      return loaded.registry;
    },
    get locales() {
      return loaded.locales;
    },
    reload(use) {
      const reading = last.then(() => readAgain(use));
      last = reading.catch(() => undefined);
      return reading;
    },
  };
}
