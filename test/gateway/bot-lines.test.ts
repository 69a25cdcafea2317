import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it } from "vitest";

const BOTS = fileURLToPath(new URL("../../bots/", import.meta.url));
/** Where authors throw, in a bot of the build and in a file of one. */
const THROWN = "throw new Error(";

it("knows of the lines of its bots where their authors wrote them", () => {
  const script = readFileSync(join(inject("serverEntry"), "../gateway.cjs"), "latin1").split("\n");
  const [, table] = /BOT_LINES = ("(?:[^"\\]|\\.)*");/.exec(script[0]!)!;
  const lines = Object.entries(JSON.parse(JSON.parse(table!) as string) as Record<string, string>);
  expect(new Set(lines.map(([, place]) => place.split("/")[0]!.split(":")[0]))).toContain("lead-form.ts");

  const thrown = lines.filter(([line]) => script[Number(line) - 1]!.includes(THROWN));
  expect(thrown.length).toBeGreaterThan(0);
  for (const [, place] of thrown) {
    const [file, line] = place.split(":");
    expect(readFileSync(join(BOTS, file!), "utf8").split("\n")[Number(line) - 1]).toContain(THROWN);
  }
});
