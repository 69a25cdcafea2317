import { createClient } from "@libsql/client";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { runChild } from "./child.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";
import { rawRows } from "./rows.ts";

/** Units of which the process was told; a warning of Node or a line of the log among them is none. */
const lines = (output: string): number[] =>
  output
    .split("\n")
    .slice(0, -1)
    .filter((line) => /^\d+$/.test(line))
    .map((line) => Number(line));

describe("a process that is killed while it commits", () => {
  it.each(["on", "off"])(
    "has every unit that it was told of, each whole, five kills in a row on one file, with STORE_THREAD=%s",
    { timeout: 120_000 },
    async (thread) => {
      const dataDir = temporaryFolder();
      const acknowledged = new Set<number>();

      for (let round = 0; round < 5; round++) {
        const child = runChild("committing-process.ts", dataDir, String(round * 1_000_000), thread);
        const wanted = 20 + Math.floor(Math.random() * 400);
        await child.printed((output) => lines(output).length >= wanted);
        await child.kill();
        for (const number of lines(child.output())) acknowledged.add(number);
      }

      const config = configFor(dataDir);
      const store = await openStore(config, silentLog(config));
      const rows = await rawRows(store, "SELECT key FROM meta WHERE key LIKE 'unit:%'", []);
      const health = await rawRows(store, "PRAGMA integrity_check", []);
      await store.close();
      const halves = new Map<number, number>();
      for (const row of rows) {
        const number = Number(String(row.key).split(":")[1]);
        halves.set(number, (halves.get(number) ?? 0) + 1);
      }
      expect(health[0]![0]).toBe("ok");
      expect(acknowledged.size).toBeGreaterThan(100);
      expect([...acknowledged].filter((number) => !halves.has(number))).toEqual([]);
      expect([...halves].filter(([, found]) => found !== 2)).toEqual([]);
    },
  );

  it("flushes every commit to disk: WAL, synchronous FULL on the connection that writes", async () => {
    const dataDir = temporaryFolder();
    const config = configFor(dataDir);
    const store = await openStore(config, silentLog(config));

    const [mode, synchronous] = await store.writer.commit([
      { sql: "SELECT journal_mode AS value FROM pragma_journal_mode", args: [] },
      { sql: "SELECT synchronous AS value FROM pragma_synchronous", args: [] },
    ]);
    await store.close();

    expect(mode!.rows[0]!.value).toBe("wal");
    expect(synchronous!.rows[0]!.value).toBe(2);
  });
});

describe("the lock on DATA_DIR", () => {
  it("keeps a second process out with one line that names folder, process and cure", async () => {
    const dataDir = temporaryFolder();
    const first = runChild("holding-process.ts", dataDir);
    await first.printed((output) => output.includes("open"));

    const second = runChild("holding-process.ts", dataDir);
    await second.printed((output) => output.includes("\n"));

    expect(second.output()).toBe(
      `DATA_DIR ${dataDir} is in use by another Parley (process ${first.process.pid}). Stop that gateway, or set another DATA_DIR.\n`,
    );
  });

  it("ends with the process: after SIGKILL the next one starts at once", async () => {
    const dataDir = temporaryFolder();
    const first = runChild("holding-process.ts", dataDir);
    await first.printed((output) => output.includes("open"));
    await first.kill();

    const config = configFor(dataDir);
    const waits: number[] = [];
    const pause = (ms: number): Promise<void> => (waits.push(ms), systemTime.pause(ms));
    const store = await openStore(config, silentLog(config), { ...systemTime, pause });
    await store.close();

    expect(waits).toEqual([]);
  });

  it("covers a database file outside of the folder, whoever else is pointed at it", async () => {
    const file = join(temporaryFolder(), "shared.db");
    const [one, two] = [temporaryFolder(), temporaryFolder()].map((dataDir) =>
      configFor(dataDir, { DATABASE_URL: `file:${file}` }),
    );
    const store = await openStore(one!, silentLog(one!));

    await expect(openStore(two!, silentLog(two!))).rejects.toThrow(`The database ${file} is in use`);

    await store.close();
    const probe = createClient({ url: `file:${file}` });
    expect((await probe.execute("SELECT count(*) AS n FROM meta")).rows[0]!.n).toBe(1);
    probe.close();
  });
});
