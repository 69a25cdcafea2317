import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { liveBots, readReloadLine, reloadLines, watchBots } from "../../../src/bot/files/live.ts";
import { loadBots } from "../../../src/bot/files/load.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { listeningLog } from "./messages.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function watched() {
  const folder = mkdtempSync(join(tmpdir(), "parley-live-"));
  mkdirSync(join(folder, "sales"));
  writeFileSync(join(folder, "hello.ts"), "1");
  const seen: string[] = [];
  ends.push(
    () => removeFolder(folder),
    watchBots(folder, (files) => void seen.push(...files)),
  );
  const saves = async (file: string, text: string): Promise<void> => {
    seen.length = 0;
    writeFileSync(join(folder, "4913"), text);
    renameSync(join(folder, "4913"), join(folder, file));
    await vi.waitFor(() => expect(seen).toContain(file));
  };
  return { folder, seen, saves };
}

describe("a folder of bots that is watched", () => {
  it("tells of files that are saved by renaming, again and again, also in folders below", async () => {
    const { saves, seen } = watched();
    for (const text of ["2", "3", "4"]) await saves("hello.ts", text);
    for (const text of ["2", "3"]) await saves("sales/menu.ts", text);
    expect(seen).toEqual(["sales/menu.ts"]);
  });

  it("tells of files in folders that come later, and of nothing in packages", async () => {
    const { folder, seen, saves } = watched();
    mkdirSync(join(folder, "node_modules/zod"), { recursive: true });
    writeFileSync(join(folder, "node_modules/zod/index.js"), "1");
    mkdirSync(join(folder, "later/deep"), { recursive: true });
    writeFileSync(join(folder, "later/deep/first.mjs"), "1");
    await vi.waitFor(() => expect(seen).toContain("later/deep/first.mjs"));
    await saves("later/deep/first.mjs", "2");
    seen.length = 0;
    rmSync(join(folder, "later"), { recursive: true });
    await vi.waitFor(() => expect(seen).toContain("later/deep/first.mjs"));
    await saves("hello.ts", "5");
    expect(seen).toEqual(["hello.ts"]);
  });
});

describe("what a developer is told of a reload", () => {
  it("is one line for each bot, and for what bots share", () => {
    const files = ["gone.ts", "hello.ts", "fresh.ts", "_mark.ts"];
    const after = [{ id: "hello" }, { id: "fresh" }];
    expect(reloadLines(files, ["gone", "hello"], after)).toEqual([
      "gone removed",
      "hello reloaded",
      "fresh added",
      "_mark.ts loaded again",
    ]);
  });

  it("can be read again from the lines", () => {
    const files = ["gone.ts", "hello.ts", "fresh.ts", "wrong.ts", "new.ts", "_mark.ts"];
    const after = [
      { id: "hello" },
      { id: "fresh" },
      { id: "wrong", error: "SyntaxError: no (wrong.ts:1)\nmore", kept: true },
      { id: "new", error: "TypeError: it was not reloaded" },
    ];
    expect(reloadLines(files, ["gone", "hello", "wrong"], after).map(readReloadLine)).toEqual([
      { what: "removed", name: "gone" },
      { what: "reloaded", name: "hello" },
      { what: "added", name: "fresh" },
      { what: "broken", name: "wrong", error: "SyntaxError: no (wrong.ts:1)", kept: true },
      { what: "broken", name: "new", error: "TypeError: it was not reloaded" },
      { what: "loaded", name: "_mark.ts" },
    ]);
    expect(readReloadLine("listening")).toBeNull();
  });

  it("names bots whose folder is gone", () => {
    expect(reloadLines(["sales/menu.ts"], ["sales/menu", "sales/else"], [])).toEqual([
      "sales/menu removed",
      "sales/else removed",
    ]);
  });
});

it("bots of a folder are read as they are now, in TypeScript and JavaScript, and packages are none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-live-"));
  ends.push(() => removeFolder(folder));
  const save = (file: string, text: string): void => {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  save("node_modules/zod/index.js", "throw 1");
  save("locales/en.json", "{}");
  save("_mark.ts", "export const mark: string = 'one';");
  save("a.ts", "import { mark } from './_mark.ts'; export default mark as string;");
  save("sales/index.mjs", "import { defineBot } from 'parley'; export default typeof defineBot;");
  const read = async () => {
    const { bots } = await liveBots(folder);
    const all = Object.entries(bots).map(async ([id, open]) => [
      id,
      ((await open()) as { default: unknown }).default,
    ]);
    return Object.fromEntries(await Promise.all(all)) as object;
  };
  expect(await read()).toEqual({ a: "one", sales: "function" });
  save("_mark.ts", "export const mark: string = 'two';");
  expect(await read()).toEqual({ a: "two", sales: "function" });
});

it("a bot of sources that is broken says where, also in a folder below", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-live-"));
  ends.push(() => removeFolder(folder));
  mkdirSync(join(folder, "sales"));
  writeFileSync(join(folder, "throws.ts"), "const nothing: any = null;\nexport default nothing.bot;");
  writeFileSync(join(folder, "sales/menu.ts"), "export default (b: unknown) => {\n  b.keyword(\n};");
  writeFileSync(join(folder, "odd.ts"), "export default { priorty: 1,\n routes() {} };");
  const live = await liveBots(folder);
  const { registry } = await loadBots({
    buildTime: live.bots,
    buildTimePaths: live.paths,
    botsDir: null,
    log: listeningLog().log,
  });
  expect(registry.list().map(({ id, error, warnings }) => [id, error ?? warnings[0]])).toEqual([
    ["odd", expect.stringMatching(/"priorty" is not known.*\(odd\.ts:1\)$/)],
    ["sales/menu", expect.stringMatching(/^SyntaxError: .*\(menu\.ts:3\)$/)],
    ["throws", expect.stringMatching(/^TypeError: .*\(throws\.ts:2\)$/)],
  ]);
});
