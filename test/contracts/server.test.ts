import { createClient } from "@libsql/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { commitFences } from "../../drizzle/schema.ts";
import { systemTime } from "../../src/model/time.ts";
import { CommitUncertain, StorageUnavailable } from "../../src/store/errors.ts";
import { createServerEngine, createServerReader } from "../../src/store/server/engine.ts";
import { startCuttingProxy } from "../_setup/cutting-proxy.ts";
import { createLogger } from "../../src/log.ts";
import { openStore } from "../../src/store/open.ts";
import { configFor, temporaryFolder } from "../unit/store/temporary.ts";
import { findSqld, startSqld } from "../_setup/sqld.ts";
import { engineContract, insert, over, recoverable, TABLE, type Rig } from "./engine.ts";
import { rawRows } from "../unit/store/rows.ts";

const sqld = findSqld();
const FENCES =
  "CREATE TABLE commit_fences (writer TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT NULL, before_seq INTEGER NOT NULL, at INTEGER NOT NULL)";

/** A server behind a proxy, with an engine that waits for little. */
async function openServer(options: { requestMs?: number; settlePausesMs?: number[] } = {}) {
  const server = await startSqld(sqld!);
  const direct = createClient({ url: server.url });
  onTestFinished(() => direct.close());
  await direct.batch([FENCES, TABLE], "write");
  const proxy = await startCuttingProxy(server.port);
  const address = {
    url: proxy.url,
    authToken: null,
    time: systemTime,
    requestMs: options.requestMs ?? 10_000,
  };
  const engine = createServerEngine({ ...address, settlePausesMs: options.settlePausesMs ?? [10, 50, 100] });
  const source = createServerReader(address);
  onTestFinished(() => engine.close());
  onTestFinished(() => source.close());
  const rig: Rig = {
    engine,
    source,
    async hold() {
      const transaction = await direct.transaction("write");
      await transaction.execute("INSERT INTO t (id, note) VALUES (999, '')");
      return () => transaction.rollback();
    },
    readOnly: null,
    largestValue: 4 * 1024 * 1024,
  };
  const stored = async (): Promise<number[]> =>
    (await direct.execute("SELECT id FROM t ORDER BY rowid")).rows.map(({ id }) => Number(id));
  return { ...rig, ...over(rig), server, proxy, direct, stored };
}

/** Something that shows when it is done twice. */
const count = (id: number) => ({ sql: "UPDATE t SET note = note + 1 WHERE id = ?", args: [id] });

describe.skipIf(sqld === null)("the engine that writes to a libSQL server", () => {
  engineContract(openServer);

  it("has its table of fences in the schema", () => {
    expect(Object.keys(commitFences)).toEqual(expect.arrayContaining(["writer", "seq", "beforeSeq", "at"]));
  });

  it.each([
    ["answer lost", true],
    ["request lost", false],
  ] as const)("does a unit once, and reports it as done: %s", async (fate, resultsLost) => {
    const { writer, proxy, direct } = await openServer();
    await writer.commit([insert(1, "0")]);

    proxy.next(fate, "note + 1");
    const [result] = await writer.commit([count(1)]);

    expect((await direct.execute("SELECT note FROM t")).rows[0]!.note).toBe("1");
    if (resultsLost) expect(() => result!.rowsAffected).toThrow(StorageUnavailable);
    else expect(result!.rowsAffected).toBe(1);
    const [next] = await writer.commit([count(1)]);
    expect(next!.rowsAffected).toBe(1);
    expect((await direct.execute("SELECT note FROM t")).rows[0]!.note).toBe("2");
  });

  it("reads again what a statement returned, when its answer was lost", async () => {
    const { writer, proxy, stored } = await openServer();
    await writer.commit([insert(1)]);

    proxy.next("answer lost", "INSERT INTO t");
    const [plain, result] = await writer.commit([insert(2), recoverable(3)]);

    expect(result!.rows[0]!.id).toBe(3);
    expect(() => plain!.rowsAffected).toThrow(StorageUnavailable);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  it("does not do a unit whose request arrives after it was done anew", async () => {
    const { writer, proxy, direct } = await openServer();
    await writer.commit([insert(1, "0")]);

    proxy.next("request late", "note + 1");
    await writer.commit([count(1)]);
    await proxy.deliverLate();
    await writer.commit([insert(2)]);

    expect((await direct.execute("SELECT note FROM t WHERE id = 1")).rows[0]!.note).toBe("1");
  });

  it("says that it does not know when the server stays away, and writes nothing before it does", async () => {
    const { writer, proxy, stored } = await openServer();
    await writer.commit([insert(1)]);

    proxy.next("answer lost, then away", "INSERT INTO t");
    await expect(writer.commit([insert(2)])).rejects.toBeInstanceOf(CommitUncertain);
    const next = writer.commit([insert(3)]);
    await expect(next).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(next).rejects.not.toBeInstanceOf(CommitUncertain);
    proxy.closeDoors(false);
    await writer.commit([insert(4)]);

    expect(await stored()).toEqual([1, 2, 4]);
  });

  it("is StorageUnavailable while the server is away, reading and writing, and goes on when it is back", async () => {
    const { writer, reading, server, stored } = await openServer();
    await writer.commit([insert(1)]);

    await server.kill();
    const commit = writer.commit([insert(2)]);
    await expect(commit).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(rawRows(reading, "SELECT 1", [])).rejects.toBeInstanceOf(StorageUnavailable);
    await server.start();
    await writer.commit([insert(3)]);

    expect((await stored()).filter((id) => id !== 2)).toEqual([1, 3]);
  });

  it("gives up a request that is not answered in time", async () => {
    const { writer, reading, proxy, stored } = await openServer({ requestMs: 300 });
    await writer.commit([insert(1)]);

    proxy.next("no answer", "SELECT 'never'");
    await expect(rawRows(reading, "SELECT 'never'", [])).rejects.toBeInstanceOf(StorageUnavailable);
    proxy.next("no answer", "INSERT INTO t");
    await writer.commit([insert(2)]);

    expect(await stored()).toEqual([1, 2]);
  });

  it("carries a whole store: migrated, sealed, warned about, and opened again", async () => {
    const server = await startSqld(sqld!);
    const warnings: string[] = [];
    const config = configFor(temporaryFolder(), { DATABASE_URL: server.url, LOG_LEVEL: "warn" });
    const log = createLogger(config, { write: (line) => void warnings.push(line) });

    const first = await openStore(config, log);
    await first.writer.commit([{ sql: "INSERT INTO meta VALUES ('a', 'b')", args: [] }]);
    await first.close();
    const second = await openStore(config, log);
    const rows = await rawRows(second, "SELECT value FROM meta WHERE key = 'a'", []);
    await second.close();

    expect(rows).toMatchObject([{ value: "b" }]);
    expect(warnings.join()).toContain("may lose acknowledged commits");
    expect(warnings.join()).toContain("durability_mode");
  });

  it("refuses a value that is too large for the server alone, as the unit's own fault", async () => {
    const { writer, stored } = await openServer();

    const [large, small] = await Promise.allSettled([
      writer.commit([{ sql: "INSERT INTO t VALUES (1, '', ?)", args: [Buffer.alloc(12 * 1024 * 1024)] }]),
      writer.commit([insert(2)]),
    ]);

    expect(large).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("too big") as unknown },
    });
    expect((large as PromiseRejectedResult).reason).not.toBeInstanceOf(StorageUnavailable);
    expect(small.status).toBe("fulfilled");
    expect(await stored()).toEqual([2]);
  });
});
