import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createBackups } from "../../../src/backup/backups.ts";
import { verifyArchive } from "../../../src/backup/archive.ts";
import { checkArchive } from "../../../src/backup/check-archive.ts";
import { folderPlace } from "../../../src/backup/folder-place.ts";
import type { BackupPlace } from "../../../src/backup/place.ts";
import { createScheduledBackups, dueAt } from "../../../src/backup/scheduled.ts";
import { openScheduledBackups } from "../../../src/app/backups.ts";
import type { Base } from "../../../src/app/data.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { HOUR_MS, MINUTE_MS, timeWithClock } from "../../../src/model/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { startS3 } from "../../_setup/s3.ts";
import { listeningLog } from "../bot/messages.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";
import { clock } from "../webhooks/gateway.ts";

/** A gateway's data, megabytes of it, and who makes backups of it. */
async function openData(env: Record<string, string> = {}) {
  const time = clock();
  const config = configFor(temporaryFolder(), env);
  const store = await openStore(config, silentLog(config), timeWithClock(time.now));
  onTestFinished(() => store.close());
  const filling = {
    sql: "INSERT INTO meta (key, value) VALUES ('filling', hex(randomblob(9000000)))",
    args: [],
  };
  await store.writer.commit([filling]);
  const { log, text } = listeningLog();
  const backups = createBackups({ config, log, now: store.now });
  return { ...time, config, store, log, logged: text, backups };
}

function scheduleTo(place: BackupPlace, data: Awaited<ReturnType<typeof openData>>, keep = 3) {
  const outcomes: (string | null)[] = [];
  const scheduled = createScheduledBackups({
    ...data,
    config: { everyMs: HOUR_MS, keep },
    place,
    isLeader: () => true,
    onOutcome: async (reason) => void outcomes.push(reason),
  });
  onTestFinished(() => scheduled.stop());
  return { ...scheduled, outcomes };
}

describe("scheduled backups", () => {
  it("lie whole in their folder; the newest stay, and so does what is not theirs", async () => {
    const data = await openData();
    const folder = join(temporaryFolder(), "not yet/there");
    const { run, outcomes } = scheduleTo(folderPlace(folder), data);
    for (let n = 0; n < 5; n++) {
      expect(await run()).toBe(true);
      data.forward(HOUR_MS);
      if (n === 0) writeFileSync(join(folder, "parley-2026-01-01T00-00-00Z.tar"), "saved by hand");
    }
    const names = readdirSync(folder).toSorted();
    expect(names).toHaveLength(4);
    expect(names.filter((name) => name.startsWith("parley-auto-"))).toHaveLength(3);
    for (const name of names.filter((one) => one.startsWith("parley-auto-")))
      expect((await verifyArchive(join(folder, name))).files[0]!.path).toBe("parley.db");
    expect(outcomes).toEqual([null, null, null, null, null]);
    expect(readdirSync(join(data.config.dataDir, "backup"))).toEqual([]);
  });

  it("are not believed before they were read back: a disk that keeps something else fails them, and the earlier ones stay", async () => {
    const data = await openData();
    const folder = temporaryFolder();
    const good = folderPlace(folder);
    await scheduleTo(good, data, 1).run();
    const [first] = readdirSync(folder);
    const liar: BackupPlace = {
      ...good,
      async put(name, chunks) {
        const bytes = await good.put(name, chunks);
        const path = join(folder, `${name}.part`);
        const content = readFileSync(path);
        content[content.length >> 1]! ^= 1;
        writeFileSync(path, content);
        return bytes;
      },
    };
    data.forward(HOUR_MS);
    const { run, outcomes } = scheduleTo(liar, data, 1);
    expect(await run()).toBe(false);
    expect(outcomes).toEqual(["The backup is incomplete: parley.db is missing or damaged"]);
    expect(readdirSync(folder)).toEqual([first]);
    expect(data.logged()).toContain("a scheduled backup failed");

    data.forward(HOUR_MS);
    const again = scheduleTo(good, data, 1);
    expect(await again.run()).toBe(true);
    expect(again.outcomes).toEqual([null]);
    expect(readdirSync(folder)).not.toContain(first);
  });

  it("fail with a sentence when their folder cannot be written, and are due again within ten minutes", async () => {
    const data = await openData();
    const inTheWay = join(temporaryFolder(), "file");
    writeFileSync(inTheWay, "");
    const { run, outcomes } = scheduleTo(folderPlace(join(inTheWay, "below")), data);
    expect(await run()).toBe(false);
    expect(outcomes).toEqual([expect.stringContaining("ENOTDIR")]);
    const at = 1_000_000_000;
    const state = { at: null, name: null, bytes: null, triedAt: at, failures: 1, reason: "x" };
    expect(dueAt(state, HOUR_MS, at)).toBe(at + 10 * MINUTE_MS);
    expect(dueAt(state, MINUTE_MS, at)).toBe(at + MINUTE_MS);
    expect(dueAt({ ...state, failures: 0 }, HOUR_MS, at)).toBe(at + HOUR_MS);
    // A clock that was set back by a year does not stop them for a year.
    expect(dueAt({ ...state, failures: 0 }, HOUR_MS, at - 1)).toBe(at - 1);
  });

  it("go to a bucket in parts, are read back from there, and the oldest are removed", async () => {
    const s3 = await startS3();
    const data = await openData({ ...s3.env, BACKUP_TO: s3.address("copies"), BACKUP_KEEP: "2" } as Record<
      string,
      string
    >);
    const raised: string[] = [];
    const base = { ...data, cluster: alone() } as unknown as Base;
    const scheduled = openScheduledBackups(base, data.backups, {
      raise: async (_key, { text }) => void raised.push(text),
      clear: async () => void raised.push("over"),
    })!;
    onTestFinished(() => scheduled.stop());
    for (let n = 0; n < 3; n++, data.forward(HOUR_MS)) expect(await scheduled.run()).toBe(true);
    expect(s3.names("copies")).toHaveLength(2);
    await s3.stop();
    expect(await scheduled.run()).toBe(false);
    expect(raised).toEqual([
      "over",
      "over",
      "over",
      expect.stringMatching(/to s3:\/\/parley\/copies\/ failed: it did not answer/),
    ]);
    await s3.start();
    expect(s3.names("copies")).toHaveLength(2);
  });
});

describe("an archive that is read back", () => {
  it.each([
    ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 512)],
    ["cut off in the middle", (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => randomBytes(100_000)],
    ["longer than it was", (bytes: Buffer) => Buffer.concat([bytes, randomBytes(512)])],
  ])("is refused when it is %s", async (_, change) => {
    const data = await openData();
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    await scheduleTo(folderPlace(folder), data).run();
    const whole = readFileSync(join(folder, readdirSync(folder)[0]!));
    const inChunks = async function* (bytes: Buffer) {
      for (let at = 0; at < bytes.length; at += 65_000)
        yield Uint8Array.from(bytes.subarray(at, at + 65_000));
    };
    expect((await checkArchive(inChunks(whole))).files).toHaveLength(1);
    await expect(checkArchive(inChunks(change(whole)))).rejects.toThrow(/backup|its end|a size/);
  });
});
