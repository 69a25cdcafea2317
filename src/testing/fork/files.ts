import { liveBots } from "../../bot/files/live.ts";
import { mergeLocales } from "../../bot/files/locales.ts";
import type { Forked, ForkFolder } from "../../path/fork.ts";
import type { AnyBot } from "../options.ts";

/** A bot as its file is now. */
interface Found {
  from: Forked["bots"][number]["from"];
  bot: AnyBot;
}

/** Reads single bots as their files are now. */
export interface BotFiles {
  /** @throws Error that names the bot, when it is nowhere or its file cannot be read */
  open(id: string): Promise<Found>;
  locales: Record<string, unknown>;
}

/** @param folders the first that has a file for a bot counts; where none has, the bot is the build's */
export async function findFiles(folders: readonly ForkFolder[]): Promise<BotFiles> {
  const live = await Promise.all(
    folders.map(async ({ from, path }) => ({ from, path, ...(await liveBots(path)) })),
  );
  const build = await bundled();
  const texts = live.toReversed().map(({ locales }) => locales);

  async function open(id: string): Promise<Found> {
    const folder = live.find(({ bots }) => bots[id] !== undefined);
    const read = folder?.bots[id] ?? build.bots[id] ?? build.bots[`${id}/index`];
    if (read === undefined) throw new Error(`There is no bot “${id}” any more.`);
    try {
      return { from: folder?.from ?? "build", bot: exportOf(await read()) };
    } catch (error) {
      const { message } = error as Error;
      const problem = folder === undefined ? message : message.replaceAll(folder.path, "");
      throw new Error(`The bot “${id}” cannot be read: ${problem}`, { cause: error });
    }
  }

  return { open, locales: mergeLocales(build.locales, ...texts) };
}

/** The bots that are compiled into the build; where this runs from the sources there are none. */
async function bundled(): Promise<{
  bots: Record<string, () => Promise<unknown>>;
  locales: Record<string, unknown>;
}> {
  try {
    const { default: bots, locales } = await import("#bots");
    return { bots, locales };
  } catch {
    return { bots: {}, locales: {} };
  }
}

/** `export default …`, or `module.exports = …` as it comes out of a compiler. */
function exportOf(module: unknown): AnyBot {
  const exported = (module as { default?: unknown } | null)?.default ?? module;
  const isCompiled = typeof exported === "object" && exported !== null && "__esModule" in exported;
  return (isCompiled ? (exported as { default?: unknown }).default : exported) as AnyBot;
}
