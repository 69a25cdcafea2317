import { existsSync, readdirSync, readFileSync, watch, type FSWatcher } from "node:fs";
import { join, relative } from "node:path";
import { systemTime, type Cancel } from "../../model/time.ts";
import { sourceReader } from "./source-files.ts";

/** Bots of a folder of sources, as the build lists them. */
export interface LiveBots {
  /** By id: a function that imports the file as it is now. */
  bots: Record<string, () => Promise<unknown>>;
  /** By id: where the file lies. */
  paths: Record<string, string>;
  locales: Record<string, unknown>;
}

const SETTLED_MS = 100;
/** What bots are made of. Editors write other names first, and rename them. */
const READ = /\.(ts|js|mjs|cjs|json)$/;

/**
 * Lists the bots of a folder as they are now, TypeScript included: `nitro dev` would start the whole gateway anew for
 * each change of something that it bundles. What was read before is forgotten, also what bots import.
 */
export async function liveBots(folder: string): Promise<LiveBots> {
  const read = await sourceReader(folder);
  const files = foldersIn(folder)
    .flatMap(filesOf)
    .map((file) => nameIn(folder, file))
    .toSorted();
  const found = files
    .filter(isBot)
    .toReversed()
    .map((file) => [idOf(file), join(folder, file)] as const);
  return {
    bots: Object.fromEntries(found.map(([id, path]) => [id, () => read(path)])),
    paths: Object.fromEntries(found),
    locales: readLocales(folder),
  };
}

/**
 * Calls back after files of the folder have changed, once for what is saved together. It watches folders, each by itself: a
 * file that is saved by renaming is another file, and who watches files is told of the first time only.
 *
 * @returns how to stop
 */
export function watchBots(folder: string, changed: (files: string[]) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  const touched = new Set<string>();
  let cancel: Cancel | null = null;

  function touch(file: string): void {
    const name = nameIn(folder, file);
    if (READ.test(name) && !/(^|\/)\.|\.test\.\w+$/.test(name)) touched.add(name);
    cancel?.();
    cancel = systemTime.after(SETTLED_MS, settled);
  }

  function look(isFirst: boolean): void {
    const now = foldersIn(folder);
    for (const [path, watcher] of watchers)
      if (!now.includes(path)) {
        watcher.close();
        watchers.delete(path);
      }
    for (const path of now.filter((found) => !watchers.has(found))) {
      const watcher = watch(path, (_event, name) => touch(join(path, name ?? "")));
      // A folder that is removed ends its watcher: the folder above tells of it.
      watcher.on("error", () => watcher.close());
      watchers.set(path, watcher);
      // What was put into it before it was watched.
      if (!isFirst) for (const file of filesOf(path)) touch(file);
    }
  }

  function settled(): void {
    look(false);
    const files = [...touched].toSorted();
    touched.clear();
    if (files.length > 0) changed(files);
  }

  look(true);
  return () => {
    cancel?.();
    for (const watcher of watchers.values()) watcher.close();
  };
}

/** One calm line for each bot that a change of these files means. */
export function reloadLines(
  files: readonly string[],
  before: readonly string[],
  after: readonly { id: string; error?: string; kept?: boolean }[],
): string[] {
  const ids = new Set(files.filter(isBot).map(idOf));
  const removed = before.filter((id) => after.every((bot) => bot.id !== id));
  const lines = [...ids].flatMap((id) => {
    const bot = after.find((other) => other.id === id);
    if (bot === undefined) return [];
    if (bot.error !== undefined) return [`${id}: ${firstLine(bot.error)}${bot.kept ? KEPT : ""}`];
    return [`${id} ${before.includes(id) ? "reloaded" : "added"}`];
  });
  const shared = files.filter((file) => !isBot(file));
  const broken = after.filter(({ id, error }) => shared.length > 0 && error !== undefined && !ids.has(id));
  return [
    ...removed.map((id) => `${id} removed`),
    ...lines,
    ...(shared.length > 0 ? [`${shared.join(", ")}${LOADED}`] : []),
    ...broken.map(({ id, error, kept }) => `${id}: ${firstLine(error!)}${kept ? KEPT : ""}`),
  ];
}

/** What a change of files meant, as one of {@link reloadLines} says it. */
export interface Reload {
  /** `loaded`: of files that bots share. */
  what: "reloaded" | "added" | "removed" | "loaded" | "broken";
  /** Id of the bot, or names of the files. */
  name: string;
  /** Of what is broken. */
  error?: string;
  /** What is broken goes on as it was. */
  kept?: true;
}

const KEPT = " · the last good version stays on";
const LOADED = " loaded again";

/** Reads one of {@link reloadLines}; null: it is something else. */
export function readReloadLine(line: string): Reload | null {
  const [, broken, problem] = /^([^:]+): (.+)$/.exec(line) ?? [];
  if (broken !== undefined && problem !== undefined) {
    if (!problem.endsWith(KEPT)) return { what: "broken", name: broken, error: problem };
    return { what: "broken", name: broken, error: problem.slice(0, -KEPT.length), kept: true };
  }
  if (line.endsWith(LOADED)) return { what: "loaded", name: line.slice(0, -LOADED.length) };
  const [, name, what] = /^(.+) (reloaded|added|removed)$/.exec(line) ?? [];
  return name === undefined ? null : { what: what as Reload["what"], name };
}

/** A compiler shows the place in the source on further lines. */
const firstLine = (text: string): string => text.split("\n", 1)[0]!;

const idOf = (file: string): string => file.replace(/\.\w+$/, "").replace(/\/index$/, "");

const isBot = (file: string): boolean =>
  /(?<!\.d|\.test)\.(ts|js|mjs)$/.test(file) && !file.split("/").some((part) => /^[_.]/.test(part));

const nameIn = (folder: string, file: string): string => relative(folder, file).replaceAll("\\", "/");

const entriesOf = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];

const filesOf = (folder: string): string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name));

/** The folder and those below it, without packages and what is hidden. */
function foldersIn(folder: string): string[] {
  const below = entriesOf(folder).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules",
  );
  return [
    ...(existsSync(folder) ? [folder] : []),
    ...below.flatMap(({ name }) => foldersIn(join(folder, name))),
  ];
}

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
