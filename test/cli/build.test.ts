import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isStale } from "../../src/cli/build.ts";
import { removeFolder } from "../_setup/folders.ts";

const BUILT = new Date("2026-01-02T00:00:00Z");
const BEFORE = new Date("2026-01-01T00:00:00Z");
const AFTER = new Date("2026-01-03T00:00:00Z");

let root: string;

function put(path: string, at: Date): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  utimesSync(file, at, at);
}

/** Folders get the time of the last change in them; the tests set it back, as after a checkout long ago. */
function age(...folders: string[]): void {
  for (const folder of folders) utimesSync(join(root, folder), BEFORE, BEFORE);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "parley-build-"));
  put("src/app.ts", BEFORE);
  put("src/simulator/main.ts", BEFORE);
  put("src/demo/main.ts", BEFORE);
  put("src/cli/main.ts", BEFORE);
  put("bots/ping.ts", BEFORE);
  put("routes/groups.post.ts", BEFORE);
  put("drizzle/migrations/0000.sql", BEFORE);
  put("test/some.test.ts", BEFORE);
  put("nitro.config.ts", BEFORE);
  put("package-lock.json", BEFORE);
  put(".output/server/index.mjs", BUILT);
  put(".output/cli.mjs", BUILT);
  put(".output/server/drizzle/migrations/meta/_journal.json", BUILT);
  put(".output/nitro.json", BUILT);
  age("src", "src/simulator", "src/demo", "src/cli", "bots", "routes", "drizzle", "drizzle/migrations");
});

afterEach(() => removeFolder(root));

describe("the build is stale", () => {
  it("not when everything is older than it", async () => {
    expect(await isStale(root)).toBe(false);
  });

  it("when there is none", async () => {
    rmSync(join(root, ".output"), { recursive: true });
    expect(await isStale(root)).toBe(true);
  });

  it.each([
    ".output/nitro.json",
    ".output/server/index.mjs",
    ".output/cli.mjs",
    ".output/server/drizzle/migrations/meta/_journal.json",
  ])("when it was broken off before %s", async (path) => {
    rmSync(join(root, path));
    expect(await isStale(root)).toBe(true);
  });

  it.each([
    "src/app.ts",
    "src/store/new.ts",
    "bots/ping.ts",
    "docs/webhooks.md",
    "routes/groups.post.ts",
    "drizzle/migrations/0000.sql",
    "nitro.config.ts",
    "package-lock.json",
  ])("when %s was saved after it", async (path) => {
    put(path, AFTER);
    expect(await isStale(root)).toBe(true);
  });

  it("when a bot was deleted after it", async () => {
    rmSync(join(root, "bots/ping.ts"));
    expect(await isStale(root)).toBe(true);
  });

  it.each(["src/simulator/main.ts", "src/demo/main.ts", "test/some.test.ts"])(
    "not when %s was saved after it, which is no part of the gateway",
    async (path) => {
      put(path, AFTER);
      age("src");
      expect(await isStale(root)).toBe(false);
    },
  );
});
