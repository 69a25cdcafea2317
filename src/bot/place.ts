import { fileURLToPath } from "node:url";

/** Frames deeper than these say nothing to the author of a bot. */
const MOST_FRAMES = 30;
const LONGEST_FRAME = 1_000;

/** Set by the build: lines of its script that come from bots, as JSON; see `src/build/bot-lines.ts`. */
declare const BOT_LINES: string | undefined;

// As stacks name it: in a build, `import.meta.url` is the launcher's.
const HERE = frameOf((new Error().stack ?? "").split("\n")[1] ?? "")?.path ?? "";
/** The gateway's own code: its folder of sources, or the one file that it was built into. */
const OWN = HERE.endsWith("/src/bot/place.ts") ? HERE.slice(0, -"bot/place.ts".length) : HERE;

/**
 * Where in a bot's files something happened: the first frame of a stack that is neither the gateway's, nor a package's, nor
 * Node's.
 *
 * @param stack of an error
 * @param file the bot's, as it was read; what lies beside it is named from its folder
 * @returns `shop/cart.mjs:12`, null when no frame is the bot's
 */
export function placeIn(stack: string | undefined, file: string | null): string | null {
  for (const line of (stack ?? "").split("\n", MOST_FRAMES)) {
    const found = frameOf(line);
    if (found === null) continue;
    const { path, row } = found;
    const bundled = path === OWN ? bundledAt(row) : undefined;
    if (bundled !== undefined) return bundled;
    if (path.startsWith(OWN) || path.includes("/node_modules/") || !path.startsWith("/")) continue;
    return `${nameOf(path, file)}:${row}`;
  }
  return null;
}

let bundledLines: Record<string, string> | undefined;

/** The place of a line in the script of a build; undefined when it is none of a bot. */
function bundledAt(row: string): string | undefined {
  bundledLines ??= JSON.parse(typeof BOT_LINES === "string" ? BOT_LINES : "{}") as Record<string, string>;
  return bundledLines[row];
}

/** By hand: names of functions and paths may hold anything, and a stack may be as long as somebody likes. */
function frameOf(line: string): { path: string; row: string } | null {
  const text = line.trim();
  if (!text.startsWith("at ") || text.length > LONGEST_FRAME) return null;
  const open = text.lastIndexOf("(");
  const inner = open === -1 ? text.slice("at ".length).replace(/^async /, "") : text.slice(open + 1, -1);
  const [column, row, ...rest] = inner.split(":").toReversed();
  if (!/^\d{1,9}$/.test(column ?? "") || !/^\d{1,9}$/.test(row ?? "")) return null;
  const [address = ""] = rest.toReversed().join(":").split("?");
  return { path: address.startsWith("file:") ? fromUrl(address) : address.replaceAll("\\", "/"), row: row! };
}

function fromUrl(address: string): string {
  try {
    return fileURLToPath(address).replaceAll("\\", "/");
  } catch {
    return address;
  }
}

/** From the folder that the bot's file lies in; the last part alone for what lies elsewhere. */
function nameOf(path: string, file: string | null): string {
  const folder = file === null ? "" : file.replaceAll("\\", "/").slice(0, file.lastIndexOf("/") + 1);
  return folder !== "" && path.startsWith(folder)
    ? path.slice(folder.length)
    : path.slice(path.lastIndexOf("/") + 1);
}

/** The nearest of some names to one that is none of them, for `did you mean`; null when none is near. */
export function nearest(name: string, known: readonly string[]): string | null {
  const byDistance = known
    .map((other) => ({ other, far: distance(name.toLowerCase().slice(0, 40), other.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  const [best] = byDistance;
  return best !== undefined && best.far <= Math.max(1, Math.floor(best.other.length / 3)) ? best.other : null;
}

/** Letters to change, add, leave out or swap with the next (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + Number(a[i - 1] !== b[j - 1]);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, changed, isSwapped ? before[j - 2]! + 1 : Infinity));
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
