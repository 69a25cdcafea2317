import type { Logger } from "../../log.ts";
import type { BlockedView, Blocking } from "../handlers/blocking.ts";
import { configSchemaOf, type ConfigSchema } from "../bindings/config-schema.ts";
import { readBot } from "../routes/define.ts";
import { placeIn } from "../place.ts";
import { compareIds } from "../routes/table.ts";
import type { Bot, RouteKind } from "../types.ts";

/** A bot as `GET /bots` shows it. */
export interface BotRecord {
  id: string;
  priority: number;
  enable: "all" | "bound";
  routes: { kind: RouteKind; pattern: string }[];
  /** Settings without which it is asked nothing; missing: it needs none. */
  needs?: readonly string[];
  /** Its settings as JSON Schema; null: it has none of its own, or they cannot be written so. */
  schema: ConfigSchema | null;
  /** Why the file is no bot; it is then off everywhere, unless `kept`. */
  error?: string;
  /** The file could be loaded once and cannot be now: what it was then goes on. */
  kept?: true;
  /** What in the file is not what its author may have meant, each with its place. */
  warnings: readonly string[];
  /** It has held up the whole gateway: how often, and until when it is left out for that. */
  blocked?: BlockedView;
}

/** The record with what is known of the bot while it runs. */
export function withBlocked<R extends BotRecord>(record: R, blocking: Pick<Blocking, "of">): R {
  const blocked = blocking.of(record.id);
  return blocked === null ? record : { ...record, blocked };
}

/** One bot file: its id, where it is, and what it exports or why it could not be read. */
export interface BotSource {
  id: string;
  /** For people: path of the file. */
  file: string;
  /** Where the file lies, for places in it. */
  path?: string | null;
  exported?: unknown;
  failure?: string;
}

/** The bots as their files stand now, the broken ones included. */
export interface BotRegistry {
  /** Bots that work, by id. */
  bots: readonly Bot[];
  /** Whether some file has this id, working or not. */
  has(id: string): boolean;
  /** Today's id by an earlier one, of bots that say `was`. */
  readonly renamed: ReadonlyMap<string, string>;
  /** All files by id, the broken ones with their `error`. */
  list(): BotRecord[];
}

/**
 * Checks what was found. A file that is no bot, or whose id is taken, is reported in log and list and disables itself only.
 *
 * @param previous what was loaded before: a bot that worked then and cannot be loaded now goes on as it was
 */
export function createRegistry(
  sources: readonly BotSource[],
  log: Logger,
  previous?: BotRegistry,
): BotRegistry {
  const bots = new Map<string, Bot>();
  const taken = new Map<string, string>();
  const records: BotRecord[] = [];

  for (const source of sources) {
    const other = taken.get(source.id);
    if (other !== undefined) {
      const error = `${source.file} is not loaded: ${other} already has the id "${source.id}". Rename one of them.`;
      records.push(broken(source.id, error));
    } else {
      taken.set(source.id, source.file);
      records.push(register(source));
    }
    const { error: problem, kept } = records.at(-1)!;
    const text = kept
      ? "a bot file cannot be loaded: its last good version stays on"
      : "a bot file is not loaded";
    if (problem) log.error({ bot: source.id, file: source.file, problem }, text);
  }
  const renamed = readNames(bots, (id) => taken.has(id));
  // Stable: of two files with one id the loaded one stands first.
  records.sort((a, b) => compareIds(a.id, b.id));

  function register({ id, file, path = null, exported, failure }: BotSource): BotRecord {
    if (failure !== undefined) return keep(id, failure);
    try {
      const onLate = (warning: string): void => log.warn({ bot: id, file }, warning);
      const { bot, warnings } = readBot(id, exported, { file: path, onLate });
      for (const warning of warnings) log.warn({ bot: id, file }, warning);
      bots.set(id, bot);
      return recordOf(bot, warnings);
    } catch (error) {
      const place = placeIn(error instanceof Error ? error.stack : undefined, path);
      return keep(id, place === null ? messageOf(error) : `${messageOf(error)} (${place})`);
    }
  }

  function keep(id: string, error: string): BotRecord {
    const last = previous?.bots.find((bot) => bot.id === id);
    if (last === undefined) return broken(id, error);
    bots.set(id, last);
    return { ...recordOf(last, []), error, kept: true };
  }

  return {
    bots: [...bots.values()].sort((a, b) => compareIds(a.id, b.id)),
    has: (id) => taken.has(id),
    renamed,
    list: () =>
      records.map((record) => ({ ...record, routes: [...record.routes], warnings: [...record.warnings] })),
  };
}

/** Who had which id before. One that is another's today is that bot's; of two who claim one, the first has it. */
function readNames(bots: Map<string, Bot>, isTaken: (id: string) => boolean): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const bot of [...bots.values()].sort((a, b) => compareIds(a.id, b.id))) {
    const was = bot.was.filter((name) => {
      const other = isTaken(name) ? name : renamed.get(name);
      if (other !== undefined)
        bot.warn(`\`was: ${JSON.stringify(name)}\` is ignored: the bot "${other}" has this id.`);
      else renamed.set(name, bot.id);
      return other === undefined;
    });
    bots.set(bot.id, { ...bot, was });
  }
  return renamed;
}

function recordOf(bot: Bot, warnings: readonly string[]): BotRecord {
  const { id, priority, enable, routes, needs } = bot;
  return {
    id,
    priority,
    enable,
    routes: routes.map(({ kind, pattern }) => ({ kind, pattern })),
    warnings,
    ...(needs.length > 0 && { needs }),
    schema: configSchemaOf(bot.config),
  };
}

function broken(id: string, error: string): BotRecord {
  return { id, priority: 50, enable: "bound", routes: [], warnings: [], schema: null, error };
}

/** An error in one line: its name and message, without the stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
