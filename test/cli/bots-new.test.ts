import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeBot } from "../../src/cli/bots/make.ts";
import { TEMPLATES } from "../../src/cli/bots/templates.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createTestChat } from "../../src/testing/index.ts";
import { removeFolder } from "../_setup/folders.ts";

const FIRST_ANSWERS: Record<string, [string, RegExp]> = {
  hello: ["hi", /^Hello Ana!$/],
  menu: ["menu", /^What can we do for you\?/],
  form: ["contact", /^What is your name\?$/],
  flow: ["visit", /^For how many\?$/],
};
let folder: string;

beforeAll(() => {
  // Inside the repository, so that `parley` is found.
  mkdirSync(join(repositoryRoot(), ".test"), { recursive: true });
  folder = mkdtempSync(join(repositoryRoot(), ".test/bots-"));
});
afterAll(() => removeFolder(folder));

const make = (template: string) => makeBot({ id: `new-${template}`, template, botsDir: null, own: folder });

it("every template is a bot in TypeScript that compiles, with its test, and answers", async () => {
  for (const template of Object.keys(TEMPLATES)) {
    const made = await make(template);
    const { default: bot } = await import(made.bot);
    await using chat = await createTestChat([bot]);
    const [says, hears] = FIRST_ANSWERS[template]!;
    await chat.user(says);
    await chat.expect(hears);
  }
  const root = repositoryRoot();
  const settings = {
    extends: join(root, "tsconfig.json"),
    include: [folder],
    compilerOptions: { paths: pathsOf(root) },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const compiling = promisify(execFile)(process.execPath, [compiler, "-p", folder]);
  await expect(compiling.catch((error: { stdout: string }) => error.stdout)).resolves.toMatchObject({
    stdout: "",
  });
});

const pathsOf = (root: string) => ({
  parley: [join(root, "src/bot/index.ts")],
  "parley/testing": [join(root, "src/testing/index.ts")],
});
