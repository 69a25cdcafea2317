import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBackups, type Backups } from "../../../src/backup/backups.ts";
import { openStore } from "../../../src/store/open.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

/** Of a data folder that was in use, with a database of a few megabytes. */
async function openBackups(env: Record<string, string> = {}): Promise<{ backups: Backups; work: string }> {
  const dataDir = temporaryFolder();
  const config = configFor(dataDir);
  const store = await openStore(config, silentLog(config));
  await store.writer.commit([
    { sql: "INSERT INTO meta (key, value) VALUES ('filling', hex(randomblob(3000000)))", args: [] },
  ]);
  await store.close();
  const work = join(dataDir, "backup");
  mkdirSync(join(work, "left by a crash"), { recursive: true });
  writeFileSync(join(work, "left by a crash/parley.db"), "");
  const backups = createBackups({ config: configFor(dataDir, env), log: silentLog(config), now: Date.now });
  return { backups, work };
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return bytes;
}

describe("backups of a running gateway", () => {
  it("are made one at a time, and leave nothing behind, nor does one that a crash broke off", async () => {
    const { backups, work } = await openBackups();
    expect(existsSync(work)).toBe(false);

    const first = await backups.make();
    await expect(backups.make()).rejects.toMatchObject({ code: "RATE_LIMITED", status: 429 });
    expect(await bytesOf(first.body)).toBeGreaterThan(6_000_000);

    expect(readdirSync(work)).toEqual([]);
    expect(await bytesOf((await backups.make()).body)).toBeGreaterThan(6_000_000);
  });

  it("that are given up, before or while they are read, make room for the next", async () => {
    const { backups, work } = await openBackups();
    const unread = (await backups.make()).body[Symbol.asyncIterator]();
    await unread.return?.();
    expect(readdirSync(work)).toEqual([]);

    for await (const chunk of (await backups.make()).body) if (chunk.length > 0) break;

    expect(readdirSync(work)).toEqual([]);
    expect(await bytesOf((await backups.make()).body)).toBeGreaterThan(6_000_000);
  });

  it("are not made of a libSQL server's database", async () => {
    const { backups } = await openBackups({ ...NODE_SETTINGS, DATABASE_URL: "http://127.0.0.1:9" });
    await expect(backups.make()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("libSQL server"),
    });
  });

  it("end with the gateway", async () => {
    const { backups, work } = await openBackups();
    const making = backups.make();
    backups.stop();
    await expect(making).rejects.toThrow("interrupted");
    expect(readdirSync(work)).toEqual([]);
  });
});
