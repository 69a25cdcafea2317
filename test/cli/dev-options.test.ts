import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { failureIn, isOfFile, warningIn } from "../../src/cli/dev-failure.ts";
import { readDevOptions } from "../../src/cli/dev-options.ts";
import { removeFolder } from "../_setup/folders.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
afterAll(() => removeFolder(folder));
const read = (args: string[], env: NodeJS.ProcessEnv = {}, isTerminal = true) =>
  readDevOptions(args, env, "/", isTerminal);

describe("npm run dev", () => {
  it("takes the folder of its argument, else BOTS_DIR, else that of the repository", () => {
    const name = basename(folder);
    expect(read([]).folder).toBeNull();
    expect(read([], { BOTS_DIR: folder }).folder).toBe(folder);
    // As whoever calls npm names it; npm itself is elsewhere.
    expect(read([name], { INIT_CWD: dirname(folder), BOTS_DIR: "/nowhere" }).folder).toBe(folder);
  });

  it("opens a browser, or prints an address, or talks in the terminal: always where nobody reads its output", () => {
    expect(read([]).how).toBe("browser");
    expect(read(["--no-open"]).how).toBe("page");
    expect(read(["--terminal"]).how).toBe("terminal");
    expect(read([], {}, false).how).toBe("terminal");
    expect(read(["--no-open"], {}, false).how).toBe("page");
  });

  it("says what cannot be used", () => {
    expect(() => read(["/no/such"])).toThrow("/no/such is not a folder. Create it, or name another.");
    expect(() => read([], { BOTS_DIR: "/no/such" })).toThrow("BOTS_DIR: /no/such is not a folder");
    expect(() => read(["a", "b"])).toThrow("Give one folder of bots, not 2: a, b");
    expect(() => read(["--real"])).toThrow(/--real/);
    expect(read(["--help"]).help).toBe(true);
    expect(read(["-h"]).help).toBe(true);
  });
});

it("a failure is shown with its places in the folder, and with none of others", () => {
  const stack = `RangeError: no
    at sum (/bots/sum.ts:3:9)
    at file:///bots/cart.mjs?parley-reading=2:5:12
    at /bots/node_modules/zod/index.js:1:1
    at runHandler (/parley/src/bot/handlers/run.ts:1:1)`;
  const line = `bots: failed ${JSON.stringify({ bot: "sum", route: "keyword:sum", message: "3EB0", what: "RangeError: no", stack })}`;
  expect(failureIn(line, "/bots")).toEqual({
    message: "3EB0",
    title: "sum failed at keyword:sum: RangeError: no",
    places: ["sum.ts:3:9", "cart.mjs:5:12"],
  });
  expect(failureIn("bots: sum added", "/bots")).toBeNull();
});

it("what a bot logs about a message is shown, and nothing else that the gateway writes", () => {
  const about = { bot: "sum", route: "keyword:sum", device: 1, message: "3EB0" };
  const line = (record: object): string => JSON.stringify(record);
  expect(warningIn(line({ level: 40, ...about, msg: "no price known" }))).toEqual({
    message: "3EB0",
    title: "sum at keyword:sum: no price known",
    isError: false,
  });
  expect(warningIn(line({ level: 50, ...about, msg: "no stock" }))).toMatchObject({ isError: true });
  // What was thrown is told with its places.
  expect(warningIn(line({ level: 50, ...about, err: { type: "RangeError" }, msg: "threw" }))).toBeNull();
  expect(warningIn(line({ level: 30, ...about, msg: "asked" }))).toBeNull();
  const ofFile = line({ level: 40, bot: "sum", file: "bots/sum", msg: "added too late" });
  expect(warningIn(ofFile)).toBeNull();
  expect(isOfFile(ofFile)).toBe(true);
  for (const other of [line({ level: 40, msg: "slow" }), "{cut", "Listening on port 3000"])
    expect([warningIn(other), isOfFile(other)]).toEqual([null, false]);
});
