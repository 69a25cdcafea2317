import { join, sep } from "node:path";
import type { createJiti } from "jiti";
import * as parley from "../index.ts";

/** Not part of the bundle: few need it, and every start would read its 1.7 MB. The build lays it beside the gateway. */
const COMPILER: string = "jiti";

/** Whether Node itself cannot read a file, only {@link sourceReader}. */
export const isTypeScript = (file: string): boolean => file.endsWith(".ts");

/**
 * Reads files of bots that are written in TypeScript, as they are now: what was read before is forgotten, also what bots
 * import, but for packages. `parley` is the gateway's own, so that errors and types are the same ones.
 *
 * @param folder absolute
 * @returns imports one file of it
 */
export async function sourceReader(folder: string): Promise<(file: string) => Promise<unknown>> {
  const compiler = (await import(/* @vite-ignore */ COMPILER)) as { createJiti: typeof createJiti };
  const jiti = compiler.createJiti(join(folder, "index.ts"), {
    fsCache: false,
    interopDefault: false,
    virtualModules: { parley },
  });
  const inFolder = folder.endsWith(sep) ? folder : folder + sep;
  for (const file of Object.keys(jiti.cache))
    if (file.startsWith(inFolder) && !file.includes(`${sep}node_modules${sep}`)) delete jiti.cache[file];
  return (file) => jiti.import(file).catch((error: unknown) => Promise.reject(asOfNode(error)));
}

const NOT_PARSED = "ParseError: ";

/** What does not parse, in one line and with a frame of its stack: the compiler puts the place on a line of its own. */
function asOfNode(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith(NOT_PARSED)) return error;
  const lines = error.message.slice(NOT_PARSED.length).split("\n");
  const place = lines.pop()!.trim();
  const told = new SyntaxError(lines.join(" ").trim(), { cause: error });
  told.stack = `${told.name}: ${told.message}\n    at ${place}`;
  return told;
}
