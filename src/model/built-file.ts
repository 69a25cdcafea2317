import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Programs that run beside the gateway, in a thread or a process: each has an entry in the sources, and is a file of its own
 * in a build, see `nitro.config.ts`.
 */

/**
 * @param name file name in a build
 * @param from `import.meta.url` of whoever starts it
 * @returns its place: beside the bundle, or above the chunk that holds `from`
 * @throws Error when it is nowhere there
 */
export function builtFile(name: string, from: string): URL {
  for (let folder = dirname(fileURLToPath(from)); ; folder = dirname(folder)) {
    const built = join(folder, name);
    if (existsSync(built)) return pathToFileURL(built);
    if (folder === dirname(folder)) throw new Error(`${name} is missing beside ${from}; build Parley again.`);
  }
}

/**
 * The entry in the sources, when `from` is one of them.
 *
 * @param entry relative to `from`
 */
export function sourceFile(entry: string, from: string): URL | null {
  const source = new URL(entry, from);
  return from.endsWith(".ts") && existsSync(source) ? source : null;
}

/** What reads TypeScript: a file in the package `tsx`, `esm/api/index.mjs` or `loader.mjs`. */
export function tsxFile(path: string, from: string): string {
  return new URL(`dist/${path}`, pathToFileURL(createRequire(from).resolve("tsx/package.json"))).href;
}
