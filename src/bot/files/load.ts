import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "../../log.ts";
import { keepAlive, SECOND_MS, systemTime } from "../../model/time.ts";
import { StartError } from "../../model/errors/errors.ts";
import { forgetModules, READING } from "./fresh-modules.ts";
import { readLocales, type LocaleFiles, type Locales } from "./locales.ts";
import { isTypeScript, sourceReader } from "./source-files.ts";
import { placeIn } from "../place.ts";
import { createRegistry, messageOf, type BotRegistry, type BotSource } from "./registry.ts";
import { compareIds } from "../routes/table.ts";

/** A module whose top level waits for something that never comes must not keep the gateway from starting. */
const IMPORT_TIMEOUT_MS = 10_000;

/** Where bots come from: the build, the folder BOTS_DIR, and the last time they were read. */
export interface LoadBotsInput {
  /** From the build's list `#bots`: id → the module, or a function that imports it. */
  buildTime: Record<string, unknown>;
  /** Where the files of `buildTime` lie, by id, when they are read as they are. */
  buildTimePaths?: Readonly<Record<string, string>>;
  /** From the build: content of `bots/locales/<language>.json` by language. */
  buildTimeLocales?: LocaleFiles;
  /** `BOTS_DIR`, absolute; null when it is not set. */
  botsDir: string | null | undefined;
  /** What was loaded before. Files are then read anew, and one that cannot be loaded now keeps its last good version. */
  previous?: LoadedBots;
  log: Logger;
}

/** The bots that were read, and the texts that they translate with. */
export interface LoadedBots {
  registry: BotRegistry;
  locales: Locales;
}

/** Which reading this is: every later one of a file, and of what it imports, is a module of its own. */
let readings = 0;

/** Texts of `ctx.t`, beside the bots; no folder of bots. */
const LOCALES = "locales";

/**
 * Reads all bots: those of `bots/`, known since the build, and those of `BOTS_DIR`. A file that cannot be imported is
 * reported and disables its own bot only.
 *
 * @throws {StartError} when BOTS_DIR is not a folder that can be read
 */
export async function loadBots(input: LoadBotsInput): Promise<LoadedBots> {
  const { buildTime, buildTimePaths = {}, buildTimeLocales = {}, botsDir, previous, log } = input;
  const keys = Object.keys(buildTime).sort(compareIds);
  const built = keys.map((id) => {
    const path = buildTimePaths[id] ?? null;
    return readModule(withoutIndex(id), { file: `bots/${id}`, path }, async () => openModule(buildTime[id]));
  });
  const found = botsDir ? await findBotFiles(botsDir) : [];
  const reading = previous && found.length > 0 ? await beginReading(botsDir!, found) : "";
  const readSource = found.some(({ file }) => isTypeScript(file))
    ? await sourceReader(resolve(botsDir!))
    : null;
  const mounted = found.map(async ({ id, file }) => {
    const address = pathToFileURL(file).href + reading;
    const open = isTypeScript(file) ? () => readSource!(file) : () => import(/* @vite-ignore */ address);
    return withoutFolder(await readModule(id, { file, path: file }, open), resolve(botsDir!));
  });
  const registry = createRegistry(await Promise.all([...built, ...mounted]), log, previous?.registry);
  const ids = registry.bots.map((bot) => bot.id).join(", ");
  log.info({ bots: ids }, previous ? "bots loaded again" : "bots loaded");
  const own = botsDir ? await readLocaleFolder(join(resolve(botsDir), LOCALES)) : {};
  const { locales, problems } = readLocales(buildTimeLocales, own);
  for (const problem of problems) log.warn(problem);
  return { registry, locales };
}

/** @returns what is added to the addresses of the files, so that Node does not hand out what it has read before */
async function beginReading(botsDir: string, found: readonly { file: string }[]): Promise<string> {
  readings += 1;
  await forgetModules(botsDir, found);
  return `?${READING}=${readings}`;
}

/** `<language>.json` of a folder that need not be there. One that is no JSON is reported as a text that is none. */
async function readLocaleFolder(folder: string): Promise<LocaleFiles> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json"));
  const entries = names.map(async (name) => {
    const content = await readFile(join(folder, name), "utf8");
    try {
      return [name.slice(0, -".json".length), JSON.parse(content) as unknown];
    } catch {
      return [name.slice(0, -".json".length), null];
    }
  });
  return Object.fromEntries(await Promise.all(entries)) as LocaleFiles;
}

/** With its place. Node does not tell a program where a syntax error is, only a person who runs the file. */
function failureOf(error: unknown, { file, path }: Place): string {
  const place = placeIn(error instanceof Error ? error.stack : undefined, path);
  if (place !== null) return `${messageOf(error)} (${place})`;
  const cure = error instanceof SyntaxError ? ` (node --check ${file} shows the line)` : "";
  return messageOf(error) + cure;
}

/** `GET /bots` shows these texts to customers: where the operator keeps the folder is not their business. */
function withoutFolder(source: BotSource, folder: string): BotSource {
  const hide = (text: string): string => text.replaceAll(folder, "BOTS_DIR");
  const { file, failure } = source;
  return { ...source, file: hide(file), ...(failure !== undefined && { failure: hide(failure) }) };
}

/** The build may hand over modules, or functions that import one: only the latter keep a throwing file to itself. */
function openModule(entry: unknown): unknown {
  return typeof entry === "function" ? (entry as () => unknown)() : entry;
}

const late = (): Error =>
  new Error(`importing the file took longer than ${IMPORT_TIMEOUT_MS / SECOND_MS} s.`);

/** A file as people know it, and where it lies. */
type Place = Required<Pick<BotSource, "file" | "path">>;

async function readModule(id: string, place: Place, open: () => Promise<unknown>): Promise<BotSource> {
  try {
    const module = await keepAlive(systemTime.deadline(IMPORT_TIMEOUT_MS, open(), late));
    return { id, ...place, exported: defaultExport(module) };
  } catch (error) {
    return { id, ...place, failure: failureOf(error, place) };
  }
}

/** `export default …`, or `module.exports = …` as Node shows it to ES modules, also when that came out of a compiler. */
function defaultExport(module: unknown): unknown {
  const exported = (module as { default?: unknown } | null)?.default;
  const isCompiled = typeof exported === "object" && exported !== null && "__esModule" in exported;
  return isCompiled ? (exported as { default?: unknown }).default : exported;
}

/**
 * Bot files below a folder: `.mjs`, `.js` and `.ts`, nested; names that begin with `_` or `.`, tests (`….test.mjs`) and
 * `node_modules` are left out.
 *
 * @returns sorted by id: the path without extension, `/` between folders, a last `index` dropped
 * @throws {StartError} when the folder cannot be read
 */
export async function findBotFiles(botsDir: string): Promise<{ id: string; file: string }[]> {
  const root = resolve(botsDir);
  const isFolder = await stat(root)
    .then((found) => found.isDirectory())
    .catch(() => false);
  if (!isFolder)
    throw new StartError(`BOTS_DIR: ${root} is not a folder. Create it, or correct or remove the setting.`);
  const files: string[] = [];
  try {
    await walk(root, files, new Set());
  } catch (error) {
    throw new StartError(`BOTS_DIR: ${root} cannot be read (${messageOf(error)}). Correct its permissions.`);
  }
  return files
    .filter((file) => !isTypeScript(file) || !files.some((other) => isMadeOf(other, file)))
    .map((file) => ({ id: botId(relative(root, file)), file }))
    .sort((a, b) => compareIds(a.id, b.id) || compareIds(a.file, b.file));
}

/** Whoever compiles bots may keep what they were compiled from beside them. */
const isMadeOf = (script: string, source: string): boolean =>
  /\.m?js$/.test(script) && script.replace(/\.m?js$/, ".ts") === source;

async function walk(folder: string, files: string[], above: ReadonlySet<string>): Promise<void> {
  const real = await realpath(folder);
  // A link that leads back to a folder above it would never end.
  if (above.has(real)) return;
  for (const name of await readdir(folder)) {
    if (/^[_.]/.test(name) || name === "node_modules" || name === LOCALES) continue;
    const path = join(folder, name);
    // stat, not lstat: mounted folders are often made of links (Kubernetes ConfigMaps). A dangling one is no bot.
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) await walk(path, files, new Set([...above, real]));
    else if (found?.isFile() && /(?<!\.test|\.d)\.(?:m?js|ts)$/.test(name)) files.push(path);
  }
}

/** `sales/menu.mjs` → `sales/menu`, `pizzeria/index.mjs` → `pizzeria` */
export function botId(path: string): string {
  return withoutIndex(
    path
      .split(sep)
      .join("/")
      .replace(/\.(?:m?js|ts)$/, ""),
  );
}

function withoutIndex(id: string): string {
  return id.replace(/\/index$/, "");
}
