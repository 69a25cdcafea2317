import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Routes } from "../../src/bot/types.ts";
import { runCommand } from "../_setup/command.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startBots } from "../unit/bot/harness.ts";

/** A folder with one bot, as BOTS_DIR names it. */
function folderWith(text: string, file = "salon.mjs"): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-check-"));
  onTestFinished(() => removeFolder(folder));
  writeFileSync(join(folder, file), text);
  return folder;
}

const salon = (b: Routes): void => {
  const booking = b.form(
    "booking",
    { name: b.fields.text("Name?"), born: b.fields.text("Born?") },
    () => undefined,
  );
  b.keyword("book", (ctx) => ctx.start(booking));
};
const formOf = (fields: string): string =>
  `export default (b) => void b.form("booking", { ${fields} }, () => undefined);`;

it("bots check says what becomes of what is stored while a gateway runs on it, and ends with a code that says how bad it is", async () => {
  const bots = await startBots({ salon });
  for (const person of [1, 2, 3]) await bots.say("book", person);
  await bots.say("Ana", 3);
  // The test's clock is not the command's.
  await bots.run.store.writer.commit([{ sql: "UPDATE bot_dialogues SET expires_at = 9e12", args: [] }]);
  const check = (folder: string, ...more: string[]) =>
    runCommand({ env: {} }, "bots", "check", "--data", bots.folder, "--bots", folder, ...more);

  const gone = folderWith("export default () => undefined;", "barber.mjs");
  const lost = await check(gone);
  expect(lost.text).toMatch(/^salon: no bot has this id any more .*3 open, no bot continues them/);
  expect(lost.code).toBe(2);

  const misfit = folderWith(formOf('name: b.fields.text("?", { pattern: /\\s/ }), born: b.fields.text("?")'));
  const { code, text } = await check(misfit, "--strict", "--each", "--json");
  expect(code).toBe(3);
  const [all, ...each] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object)
    .toReversed();
  expect(all).toMatchObject({
    lost: 0,
    misfits: 1,
    bots: [{ bot: "salon", dialogues: [{ dialogue: "booking", goes_on: 2, asked_again: { name: 1 } }] }],
  });
  expect(each).toMatchObject([
    { outcome: "asked_again", key: "name" },
    { outcome: "goes_on" },
    { bot: "salon", dialogue: "booking", outcome: "goes_on", key: null },
  ]);
  // The one that runs goes on as if nobody had looked.
  expect(await bots.say("Ben", 1)).toMatchObject({ by: "bot:salon" });
});

it("bots check says what is missing when there is no data", async () => {
  const folder = folderWith("");
  const nowhere = await runCommand({ env: {} }, "bots", "check", "--data", folder);
  expect(nowhere).toMatchObject({
    code: 1,
    text: expect.stringMatching(/parley\.db does not exist: name the data folder/),
  });
});
