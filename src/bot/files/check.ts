import { findConflicts } from "../routes/conflicts.ts";
import { readBot } from "../routes/define.ts";
import { placeIn } from "../place.ts";
import { messageOf } from "./registry.ts";
import type { ActiveBot } from "../routes/table.ts";
import type { Bot } from "../types.ts";

/** A file that is said to hold a bot. */
export interface BotFile {
  id: string;
  /** For people. */
  file: string;
  /** Gives what the file exports by default. */
  open(): Promise<unknown>;
}

/**
 * What an author wants to know before a gateway runs: files that are no bots, ids that are taken, options that nobody
 * knows, words that two routes claim, routes that cannot be reached, and fallbacks that shut the webhook out. Bots that
 * are on only where they are bound are looked at one by one: nobody knows yet who will stand beside them.
 *
 * @returns one sentence for each, none when all is well
 */
export async function checkBots(files: readonly BotFile[]): Promise<string[]> {
  const problems: string[] = [];
  const bots = new Map<string, { bot: Bot | null; file: string }>();
  for (const { id, file, open } of files) {
    const other = bots.get(id);
    if (other) {
      problems.push(`${file} is not loaded: ${other.file} already has the id "${id}". Rename one of them.`);
      continue;
    }
    bots.set(id, { bot: null, file });
    try {
      const { bot, warnings } = readBot(id, await open(), { file });
      bots.set(id, { bot, file });
      problems.push(...warnings.map((warning) => `${file}: ${warning}`));
    } catch (error) {
      const place = placeIn(error instanceof Error ? error.stack : undefined, file);
      const where = place === null ? "" : ` (${place})`;
      problems.push(`${file} could not be loaded as a bot: ${messageOf(error)}${where}`);
    }
  }
  const read = [...bots.values()].flatMap(({ bot }) => bot ?? []);
  const everywhere = read.filter(({ enable }) => enable === "all");
  const groups = [everywhere, ...read.filter(({ enable }) => enable === "bound").map((bot) => [bot])];
  return [
    ...problems,
    ...groups.flatMap((group) => findConflicts(group.map(active)).map(({ text }) => text)),
  ];
}

const active = (bot: Bot): ActiveBot => ({ bot, priority: bot.priority, config: {} });
