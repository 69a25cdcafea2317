import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const MOST_STOPS = 20;

interface Stop {
  file: string;
  text: string;
  /** How it hands on to the next; null: it is the last. */
  by: string | null;
}

/** The rows of a chapter's table that have a number, a step, a file and a name. */
function walk(chapter: string): Stop[] {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const text = page.split(`## ${chapter}\n`)[1]!.split("\n## ")[0]!;
  const rows = [...text.matchAll(/^\| \d+ +\|.*\| `([^`]+)` +\| (?:`(\w+)`)? *\|$/gm)];
  return rows.map(([, file, by]) => {
    const path = join(root, file!.startsWith("routes/") ? file! : `src/${file}`);
    return { file: file!, text: existsSync(path) ? readFileSync(path, "utf8") : "", by: by ?? null };
  });
}

const names = ({ text }: Stop, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);

describe.each(["A message comes in", "A request sends"])(
  'the walk "%s" of docs/architecture.md',
  (chapter) => {
    const stops = walk(chapter);

    it(`has at most ${MOST_STOPS} stops, each a file of the sources`, () => {
      expect(stops.length).toBeGreaterThan(5);
      expect(stops.length).toBeLessThanOrEqual(MOST_STOPS);
      expect(stops.filter(({ text }) => text === "").map(({ file }) => file)).toEqual([]);
    });

    it("goes from each file to the next by a name that both know", () => {
      const broken = stops.flatMap((stop, index) => {
        const next = stops[index + 1];
        if (next === undefined) return stop.by === null ? [] : [`${stop.file} leads nowhere`];
        const isPath = stop.by !== null && names(stop, stop.by) && names(next, stop.by);
        return isPath ? [] : [`${stop.file} does not reach ${next.file} by ${stop.by}`];
      });
      expect(broken).toEqual([]);
    });
  },
);
