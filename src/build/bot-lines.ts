import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { relative, resolve } from "node:path";
import type { Plugin } from "rolldown";

/** Lines of a script that come from bots: `{"5211": "shop/cart.ts:12"}`. The first line is 1. */
export type BotLines = Record<string, string>;

/** Hands over the source maps that lie beside modules: a bundle of bundles then knows the first sources. */
export function withSourceMaps(folder: string): Plugin {
  return {
    name: "with-source-maps",
    load(id) {
      if (!id.startsWith(folder) || id.includes("node_modules") || !existsSync(`${id}.map`)) return null;
      return {
        code: readFileSync(id, "utf8"),
        map: readFileSync(`${id}.map`, "utf8"),
        moduleType: "js",
      };
    },
  };
}

/**
 * Where the lines of bots are in a bundle.
 *
 * @param code    the bundle
 * @param map     its source map
 * @param folder  that the map's sources are relative to
 * @param bots    the folder of the bots; files are named from there
 * @param shifted how many lines will be put in front of the bundle
 */
export function botLines(
  code: string,
  map: Omit<SourceMapPayload, "sourceRoot">,
  folder: string,
  bots: string,
  shifted: number,
): BotLines {
  const places = new SourceMap({ ...map, sourceRoot: "" });
  const names = new Map(map.sources.map((source) => [source, relative(bots, resolve(folder, source))]));
  const found: BotLines = {};
  for (const [index, line] of code.split("\n").entries()) {
    const entry = places.findEntry(index, line.search(/\S/));
    // What an earlier line ends with is found for a line that comes from nowhere.
    if (!("originalSource" in entry) || entry.generatedLine !== index) continue;
    const name = names.get(entry.originalSource)?.replaceAll("\\", "/");
    if (name !== undefined && !name.startsWith(".."))
      found[index + 1 + shifted] = `${name}:${entry.originalLine + 1}`;
  }
  return found;
}
