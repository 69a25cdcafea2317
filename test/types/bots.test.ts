import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { removeFolder } from "../_setup/folders.ts";

const expectations = readFileSync(join(repositoryRoot(), "test/types/bots.test-d.ts"), "utf8");

/** The expectations with one of them made wrong. */
function wrong(from: string, to: string): string {
  if (expectations.split(from).length !== 2) throw new Error(`${from} does not stand there once.`);
  return expectations.replace(from, to);
}

/** Compiles files as `npm run typecheck` does. @returns the errors of each, by name */
async function compile(files: Record<string, string>): Promise<Record<string, string[]>> {
  const home = join(repositoryRoot(), ".test");
  mkdirSync(home, { recursive: true });
  const folder = mkdtempSync(join(home, "types-"));
  onTestFinished(() => removeFolder(folder));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, `${name}.ts`), content);
  const tsconfig = { extends: "../../tsconfig.json", include: ["./*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const tsc = join(repositoryRoot(), "node_modules/typescript/bin/tsc");
  const output = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      [tsc, "-p", folder, "--noEmit", "--pretty", "false"],
      { cwd: folder },
      (_, stdout) => resolve(stdout),
    ),
  );
  const lines = output.split("\n").filter((line) => line.includes("error TS"));
  const named = Object.keys(files);
  const elsewhere = lines.filter((line) => !named.some((name) => line.startsWith(`${name}.ts(`)));
  expect(elsewhere).toEqual([]);
  return Object.fromEntries(
    named.map((name) => [name, lines.filter((line) => line.startsWith(`${name}.ts(`))]),
  );
}

describe("what the compiler knows about bots", () => {
  it("holds, and each kind of expectation fails when it does not", { timeout: 300_000 }, async () => {
    const errors = await compile({
      right: expectations,
      filter: wrong(
        'b.on("media:image", (ctx) => exactly<"image">()',
        'b.on("media:image", (ctx) => exactly<"video">()',
      ),
      choice: wrong('exactly<"s" | "l">()(values.size)', 'exactly<"s">()(values.size)'),
      skipped: wrong("exactly<string | null>()(values.note)", "exactly<string>()(values.note)"),
      config: wrong("exactly<number>()(ctx.config.rooms)", "exactly<string>()(ctx.config.rooms)"),
      refused: wrong("ctx.reply(5);", 'ctx.reply("5");'),
      tap: wrong("(seen) => seen.reply(", "(seen) => seen.log.info({}, "),
    });
    const { right, ...others } = errors;
    expect(right).toEqual([]);
    for (const [name, found] of Object.entries(others)) expect(found, name).toHaveLength(1);
    expect(others["refused"]![0]).toContain("Unused '@ts-expect-error'");
  });
});
