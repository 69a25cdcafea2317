import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const modules = join(root, "node_modules");
const run = promisify(execFile);
let project = "";

const BOT = `import { defineBot, fields } from "parley";
export default defineBot((b) => {
  const lead = b.form("lead", { name: fields.text("Your name?") }, (ctx, { name }) => ctx.reply(\`Thanks, \${name.trim()}\`));
  b.keyword("hi", (ctx) => ctx.start(lead));
  b.keyword("order", async (ctx) => ctx.reply(await (await fetch("https://shop.example/orders/1")).text()));
});
`;
const TEST = `import { expect, it } from "vitest";
import { createTestChat, crashEverywhere } from "parley/testing";
import "parley/testing/matchers";
import bot from "./bot.ts";

it("asks", async () => {
  await using chat = await createTestChat([bot], { webhook: (event) => ({ message: \`wh: \${String(event.text)}\` }) });
  await chat.user("hi");
  await chat.expect("Your name?");
  await chat.kill();
  await chat.user("Ana");
  await chat.expect("Thanks, Ana");
  expect(chat).toBeSilent();
  await chat.user("else");
  expect(chat).toHaveReplied("wh: else");
  await expect(chat).toHaveDecided({ by: "webhook" });
});

it("names what is not stubbed", async () => {
  await using chat = await createTestChat([bot]);
  await expect(chat.user("order")).rejects.toThrow(/GET https:\\/\\/shop\\.example\\/orders\\/1 \\(.*bot\\.ts:5:\\d+\\)/);
});

it("survives", async () => {
  const { runs } = await crashEverywhere([bot], async (chat) => {
    await chat.user("hi");
    await chat.user("Ana");
    await chat.expect("Your name?");
    await chat.expect("Thanks, Ana");
  });
  expect(runs).toBeGreaterThan(6);
});
`;
const MISTAKE = `import { createTestChat } from "parley/testing";
const chat = await createTestChat([]);
await chat.expect(3);
export {};
`;

/** A project of somebody else with the packed package, and beside it what the package and the project install. */
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "parley-author-"));
  await run("npm", ["run", "--silent", "build:kit"], { cwd: root });
  const packed = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: root });
  const installed = join(project, "node_modules/parley");
  mkdirSync(installed, { recursive: true });
  const archive = join(project, packed.stdout.trim().split("\n").at(-1)!);
  await run("tar", ["-xzf", archive, "--strip-components=1", "-C", installed]);
  for (const name of readdirSync(modules))
    if (!name.startsWith(".") && name !== "parley")
      symlinkSync(join(modules, name), join(project, "node_modules", name));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(project, "bot.ts"), BOT);
  writeFileSync(join(project, "bot.test.ts"), TEST);
  writeFileSync(join(project, "mistake.ts"), MISTAKE);
}, 300_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe("the package in a bot author's own project", () => {
  it("holds what is imported and no sources", () => {
    const files = readdirSync(join(project, "node_modules/parley"), { recursive: true }).map(String);

    expect(files).toEqual(
      expect.arrayContaining(["dist/index.mjs", "dist/testing.mjs", "dist/matchers.mjs"]),
    );
    expect(files.filter((file) => /^(src|test|routes|bots)\b/.test(file))).toEqual([]);
  });

  it("runs tests of a bot", async () => {
    const vitest = join(modules, "vitest/vitest.mjs");
    const { stdout } = await run(
      process.execPath,
      [vitest, "run", "--root", project, "--testTimeout=60000"],
      {
        cwd: project,
        env: { ...process.env, NO_COLOR: "1", VITEST: undefined, CI: "1" },
      },
    ).catch((error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr }));

    expect(stdout).toMatch(/Tests {2}3 passed/);
  }, 300_000);

  it("is typed", async () => {
    const tsc = join(modules, "typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom,esnext.disposable"];
    const resolution = ["--module", "nodenext", "--types", "node", "--allowImportingTsExtensions"];
    const check = (file: string) =>
      run(process.execPath, [tsc, ...options, ...resolution, "--skipLibCheck", file], { cwd: project }).then(
        () => "",
        ({ stdout }: { stdout: string }) => stdout,
      );

    expect(await check("bot.test.ts")).toBe("");
    expect(await check("mistake.ts")).toMatch(/^mistake\.ts\(3,19\): error TS2345/);
  }, 300_000);
});
