import { existsSync, readdirSync, readFileSync, watch } from "node:fs";
import { join, relative, sep } from "node:path";
import { createJiti } from "jiti";
import { systemTime, type Cancel } from "../model/time.ts";
import * as parley from "./index.ts";

/** Bots of a folder of sources, as the build lists them. */
export interface LiveBots {
  /** By id: a function that imports the file as it is now. */
  bots: Record<string, () => Promise<unknown>>;
  locales: Record<string, unknown>;
}

const SETTLED_MS = 100;

/**
 * Lists the bots of a folder as they are now, TypeScript included: `nitro dev` would start the whole gateway anew for
 * each change of something that it bundles. What was read before is forgotten, also what bots import.
 */
export function liveBots(folder: string): LiveBots {
  // `parley` is the gateway's own, so that errors and types are the same ones.
  const jiti = createJiti(join(folder, "index.ts"), {
    fsCache: false,
    interopDefault: false,
    virtualModules: { parley },
  });
  for (const file of Object.keys(jiti.cache)) if (file.startsWith(folder + sep)) delete jiti.cache[file];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted();
  const bots = files
    .filter(isBot)
    .map((file) => [idOf(file), () => jiti.import(join(folder, file))] as const);
  return { bots: Object.fromEntries(bots.toReversed()), locales: readLocales(folder) };
}

/**
 * Calls back after files of the folder have changed, once for what is saved together.
 *
 * @returns how to stop
 */
export function watchBots(folder: string, changed: (files: string[]) => void): () => void {
  const touched = new Set<string>();
  let cancel: Cancel | null = null;
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || /(^|\/)\.|~$|\.test\.\w+$/.test(name)) return;
    touched.add(name.replaceAll("\\", "/"));
    cancel?.();
    cancel = systemTime.after(SETTLED_MS, () => {
      const files = [...touched].toSorted();
      touched.clear();
      changed(files);
    });
  });
  return () => {
    cancel?.();
    watcher.close();
  };
}

/** One calm line for each bot that a change of these files means. */
export function reloadLines(
  files: readonly string[],
  before: readonly string[],
  after: readonly { id: string; error?: string; kept?: boolean }[],
): string[] {
  const ids = new Set(files.filter(isBot).map(idOf));
  const lines = [...ids].flatMap((id) => {
    const bot = after.find((other) => other.id === id);
    if (bot === undefined) return before.includes(id) ? [`${id} removed`] : [];
    if (bot.error !== undefined)
      return [`${id}: ${firstLine(bot.error)}${bot.kept ? " · the last good version stays" : ""}`];
    return [`${id} ${before.includes(id) ? "reloaded" : "added"}`];
  });
  const shared = files.filter((file) => !isBot(file));
  const broken = after.filter(({ id, error }) => shared.length > 0 && error !== undefined && !ids.has(id));
  return [
    ...lines,
    ...(shared.length > 0 ? [`${shared.join(", ")} read again`] : []),
    ...broken.map(({ id, error }) => `${id}: ${firstLine(error!)}`),
  ];
}

/** A compiler shows the place in the source on further lines. */
const firstLine = (text: string): string => text.split("\n", 1)[0]!;

const idOf = (file: string): string => file.replace(/\.\w+$/, "").replace(/\/index$/, "");

const isBot = (file: string): boolean =>
  /(?<!\.d|\.test)\.(ts|js|mjs)$/.test(file) && !file.split("/").some((part) => /^[_.]/.test(part));

function readLocales(folder: string): Record<string, unknown> {
  const texts = join(folder, "locales");
  const names = existsSync(texts) ? readdirSync(texts).filter((name) => name.endsWith(".json")) : [];
  const entries = names.map((name) => {
    try {
      return [name.slice(0, -".json".length), JSON.parse(readFileSync(join(texts, name), "utf8"))];
    } catch {
      // Reported as a text that is none.
      return [name.slice(0, -".json".length), null];
    }
  });
  return Object.fromEntries(entries);
}
