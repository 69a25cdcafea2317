import { realpath } from "node:fs/promises";
import { createRequire, register } from "node:module";
import { resolve, sep } from "node:path";

/** Query of a bot file's address that says which reading it belongs to. */
export const READING = "parley-reading";

/**
 * Node keeps every module for as long as the process lives, under its address. This hands the reading on from a file to
 * what it imports, so that `_helpers.mjs` are read anew as well; packages stay as they are.
 */
const HOOK = `export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const reading = /[?&]${READING}=(\\d+)/.exec(context.parentURL ?? "")?.[1];
  if (!reading || !found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found;
  if (found.url.includes("${READING}=")) return found;
  return { ...found, url: found.url + (found.url.includes("?") ? "&" : "?") + "${READING}=" + reading };
}`;

let hooked = false;

/**
 * Prepares for reading bot files once more: modules of ES kind by another address, CommonJS by forgetting them.
 *
 * @param botsDir absolute
 */
export async function forgetModules(botsDir: string, found: readonly { file: string }[]): Promise<void> {
  if (!hooked) register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
  hooked = true;
  const folder = (await realpath(botsDir)) + sep;
  const files = new Set(await Promise.all(found.map(({ file }) => realpath(file).catch(() => file))));
  const { cache } = createRequire(resolve(botsDir, "index.js"));
  for (const file of Object.keys(cache))
    if (!file.includes(`${sep}node_modules${sep}`) && (file.startsWith(folder) || files.has(file)))
      delete cache[file];
}
