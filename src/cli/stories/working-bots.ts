import { join } from "node:path";
import { liveBots } from "../../bot/files/live.ts";
import { mergeLocales } from "../../bot/files/locales.ts";
import { loadConfig, repositoryRoot } from "../../config.ts";
import type { AnyBot } from "../../testing/index.ts";

/** Bots as their files are now, whatever the running gateway was built with. */
export interface WorkingBots {
  /** Folders of bots, those of `BOTS_DIR` last. */
  folders: readonly string[];
  ids: readonly string[];
  locales: Record<string, unknown>;
  /**
   * Reads these bots, each once.
   *
   * @throws Error that names the bot which is not there, or whose file cannot be read
   */
  open(ids: readonly string[]): Promise<Record<string, AnyBot>>;
}

/** Lists the bots of `bots/` and `BOTS_DIR`; none is read yet. */
export async function workingBots(env: NodeJS.ProcessEnv = process.env): Promise<WorkingBots> {
  const { botsDir } = loadConfig(env);
  const folders = [join(repositoryRoot(), "bots"), ...(botsDir === null ? [] : [botsDir])];
  const live = await Promise.all(folders.map((folder) => liveBots(folder)));
  const files = Object.assign({}, ...live.map(({ bots }) => bots)) as Record<string, () => Promise<unknown>>;
  const locales = mergeLocales(...live.map((one) => one.locales));
  const read = new Map<string, Promise<AnyBot>>();

  async function open(id: string): Promise<AnyBot> {
    const file = files[id];
    if (file === undefined)
      throw new Error(
        `There is no bot “${id}” in ${folders.join(" or ")}. Bots: ${Object.keys(files).join(", ")}.`,
      );
    try {
      return ((await file()) as { default: AnyBot }).default;
    } catch (error) {
      throw new Error(`The bot “${id}” cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }

  return {
    folders,
    ids: Object.keys(files),
    locales,
    async open(ids) {
      for (const id of ids) if (!read.has(id)) read.set(id, open(id));
      return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await read.get(id)!] as const)));
    },
  };
}
