import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";

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
const STRICT = `import { defineBot, fields } from "parley";
import { crashEverywhere, createTestChat } from "parley/testing";
import { z } from "zod";

const config = z.object({ card: z.string() });
const session = { schema: z.object({ count: z.number() }), initial: () => ({ count: 0 }) };
const bot = defineBot({ config, session }, (b) => {
  const lead = b.form("lead", { size: fields.choice("Which?", ["S", "M"]) }, (ctx, { size }) => {
    ctx.session.count += 1;
    const chosen: "S" | "M" = size;
    ctx.reply(\`\${chosen} \${ctx.config.card}\`);
  });
  const day = b.flow("day", async (f) => {
    const at: string = (await f.step("at", () => ({ day: new Date() }))).day;
    f.say(at);
  });
  b.keyword("lead", (ctx) => ctx.start(lead));
  b.keyword("day", (ctx) => ctx.start(day));
});
await using chat = await createTestChat([bot], { config: { card: "1" } });
await chat.user("lead");
await crashEverywhere([bot], (calm) => calm.user("lead"));
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
  writeFileSync(join(project, "strict.ts"), STRICT);
}, 300_000);

afterAll(() => removeFolder(project));

describe("the package in a bot author's own project", () => {
  it("holds what is imported and no sources", () => {
    const files = readdirSync(join(project, "node_modules/parley"), { recursive: true }).map(String);

    expect(files).toEqual(
      expect.arrayContaining(["dist/index.mjs", "dist/testing.mjs", "dist/matchers.mjs"]),
    );
    expect(files.filter((file) => file.endsWith(".d.ts")).toSorted()).toEqual([
      "dist/index.d.ts",
      "dist/matchers.d.ts",
      "dist/testing.d.ts",
    ]);
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
    const strictest = ["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    // The compiler takes as long for one file as for two.
    const check = (files: string[], ...more: string[]) =>
      run(process.execPath, [tsc, ...options, ...resolution, ...more, ...files], { cwd: project }).then(
        () => [],
        ({ stdout }: { stdout: string }) => stdout.match(/^\S.*$/gm) ?? [],
      );

    // What vitest declares is not ours.
    expect(await check(["bot.test.ts", "mistake.ts"], "--skipLibCheck")).toEqual([
      expect.stringMatching(/^mistake\.ts\(3,19\): error TS2345/),
    ]);
    // Everything that the package declares is checked as well, and what that brings along.
    expect(await check(["strict.ts"], ...strictest)).toEqual([]);
  }, 300_000);
});
