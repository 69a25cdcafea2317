import { defineTopic } from "../../model/nodes/cluster.ts";
import { GatewayError, StartError } from "../../model/errors/errors.ts";
import type { News } from "../../model/nodes/news.ts";
import { createSequence } from "../../model/shares/sequence.ts";
import type { Store } from "../../store/store.ts";
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
  /** Why what was read may not run, by bot; null: it may. Default: it always may. */
  refuse?: (next: LoadedBots) => Promise<Map<string, string> | null>;
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
    const { bots, paths, locales } = await live();
    return { ...input, buildTime: bots, buildTimePaths: paths, buildTimeLocales: locales };
  };
  let loaded = await loadBots(await now());
  const inTurn = createSequence();

  async function readAgain(use: (registry: BotRegistry) => Promise<void>): Promise<BotRecord[]> {
    try {
      const next = await loadBots({ ...(await now()), previous: loaded });
      const refused = (await input.refuse?.(next)) ?? null;
      if (refused !== null) return keep(next.registry, refused);
      loaded = next;
      await use(next.registry);
      return next.registry.list();
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      input.log.error({ err: error }, "bots are not reloaded: all stay as they are");
      throw new GatewayError("UNAVAILABLE", error.message);
    }
  }

  /** All stay as they are, until bots that fit are read. */
  function keep(next: BotRegistry, problems: ReadonlyMap<string, string>): BotRecord[] {
    for (const [bot, problem] of problems)
      input.log.error({ bot, problem }, "bots are not reloaded: they do not fit the stored data");
    loaded = { ...loaded, registry: withProblems(loaded.registry, next, problems) };
    return loaded.registry.list();
  }

  return {
    get registry() {
      return loaded.registry;
    },
    get locales() {
      return loaded.locales;
    },
    reload: (use) => inTurn(() => readAgain(use)),
  };
}

/** The same bots, of which it is said why the new ones do not run. What was said before of others is not true any more. */
function withProblems(
  registry: BotRegistry,
  { renamed }: BotRegistry,
  problems: ReadonlyMap<string, string>,
): BotRegistry {
  const list = (registry as Kept).before ?? registry.list;
  const kept: Kept = {
    ...registry,
    before: list,
    list: () =>
      list().map((record) => {
        const problem = problems.get(renamed.get(record.id) ?? record.id);
        if (problem === undefined) return record;
        return { ...record, error: `The new version does not fit the stored data: ${problem}`, kept: true };
      }),
  };
  return kept;
}

/** A registry that goes on although other bots were read. */
type Kept = BotRegistry & {
  /** Without what is said of those. */
  before?: BotRegistry["list"];
};

/** Somebody has asked for the bots to be read again. */
const RELOADED = defineTopic<null>("bots");

/**
 * Has the bots read again here, and by every other node.
 *
 * @returns does so; it throws what `reload` throws, and then nobody else is told
 */
export function reloadEverywhere<T>(
  { store, news }: { store: Pick<Store, "writer">; news: News },
  reload: () => Promise<T>,
): () => Promise<T> {
  // What cannot be read there is said in that node's log, and its bots stay as they are.
  const follow = (): Promise<void> =>
    reload().then(
      () => undefined,
      () => undefined,
    );
  news.listen(RELOADED, { hear: follow, reread: follow });
  return async () => {
    const read = await reload();
    const told = news.of(RELOADED, null);
    if (told.length > 0) await store.writer.commit(told);
    return read;
  };
}
