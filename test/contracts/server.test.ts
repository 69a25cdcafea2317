import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@libsql/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { commitFences } from "../../drizzle/schema.ts";
import { StartError } from "../../src/model/errors/errors.ts";
import { DAY_MS, systemTime, timeWithClock } from "../../src/model/time.ts";
import { CommitUncertain, StorageUnavailable } from "../../src/store/errors.ts";
import { bytes, defineQuery, integer } from "../../src/store/query.ts";
import { asStartError } from "../../src/store/file/damage.ts";
import { checkStorage } from "../../src/store/file/health.ts";
import { openServerClient } from "../../src/store/server/client.ts";
import { requireDurable } from "../../src/store/server/durability.ts";
import { createServerEngine, createServerReader } from "../../src/store/server/engine.ts";
import { startCuttingProxy } from "../_setup/cutting-proxy.ts";
import { createLogger } from "../../src/log.ts";
import { openStore } from "../../src/store/open.ts";
import { configFor, temporaryFolder } from "../unit/store/temporary.ts";
import { NODE_SETTINGS } from "../unit/store/temporary-config.ts";
import { findSqld, startSqld } from "../_setup/sqld.ts";
import { engineContract, insert, over, recoverable, TABLE, type Rig } from "./engine.ts";
import { rawRows } from "../unit/store/rows.ts";

const sqld = findSqld();
const FENCES =
  "CREATE TABLE commit_fences (writer TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT NULL, before_seq INTEGER NOT NULL, at INTEGER NOT NULL)";

interface ServerOptions {
  requestMs?: number;
  settlePausesMs?: number[];
  settleMs?: number;
  durability?: "relaxed";
  onDurable?: (durable: boolean) => void;
  onGoneBack?: () => void;
}

/** A server behind a proxy, with an engine that waits for little. */
async function openServer(options: ServerOptions = {}) {
  const server = await startSqld(sqld!, { durability: options.durability });
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
  const { settlePausesMs = [10, 50, 100], settleMs, onDurable, onGoneBack } = options;
  const engine = createServerEngine({ ...address, settlePausesMs, settleMs, onDurable, onGoneBack });
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

  it("reads more than the server gives in one answer, as it was at one moment", async () => {
    const { writer, reading, direct } = await openServer();
    const ids = Array.from({ length: 200 }, (_, index) => index + 1);
    // 20 MB, of which the server gives ten in one answer; one row is as large as a row may be.
    for (let from = 0; from < ids.length; from += 50)
      await writer.commit(
        ids.slice(from, from + 50).map((id) => ({
          sql: "INSERT INTO t (id, note, bin) VALUES (?, 'x', ?)",
          args: [id, Buffer.alloc(id === 100 ? 4_000_000 : 100_000, id)],
        })),
      );
    const all = defineQuery("SELECT id, bin FROM t WHERE id > ? ORDER BY id LIMIT ?", {
      id: integer(),
      bin: bytes(),
    });
    const reads = reading.read(all, [0, 200]);
    // What changes meanwhile moves no row from one part to another.
    await direct.execute("DELETE FROM t WHERE id = 1");
    const rows = await reads;

    const first = rows[0]!.id;
    expect(rows.map(({ id }) => id)).toEqual(ids.slice(first - 1));
    expect(rows.every(({ id, bin }) => bin[0] === id && bin.at(-1) === id)).toBe(true);
    const paged: number[] = [];
    for await (const page of reading.pages(all, (last) => [last?.id ?? 0]))
      paged.push(...page.map(({ id }) => id));
    expect(paged).toEqual(ids.slice(1));
  });

  it.each([5_000_000, 12_000_000])(
    "refuses a value of %i bytes alone, and says how large one may be",
    async (size) => {
      const { writer, stored } = await openServer();
      const outcomes = await Promise.allSettled([
        writer.commit([insert(1)]),
        writer.commit([
          { sql: "INSERT INTO t (id, note, bin) VALUES (2, '', ?)", args: [Buffer.alloc(size)] },
        ]),
        writer.commit([insert(3)]),
      ]);

      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect((outcomes[1] as PromiseRejectedResult).reason).toMatchObject({
        message: expect.stringContaining("at most 4 MiB (4,194,304 bytes)"),
      });
      // The unit's own fault.
      expect((outcomes[1] as PromiseRejectedResult).reason).not.toBeInstanceOf(StorageUnavailable);
      expect(await stored()).toEqual([1, 3]);
    },
  );

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

  it("lets no late question of an outage before move its place back", async () => {
    const { writer, proxy, stored, direct } = await openServer();
    const place = async () => Number((await direct.execute("SELECT seq FROM commit_fences")).rows[0]!.seq);
    await writer.commit([insert(1)]);

    proxy.next("request lost", "INSERT INTO t", 1);
    proxy.thenNext("request late", "before_seq = seq");
    await writer.commit([insert(2)]);
    await writer.commit([insert(3)]);
    const before = await place();
    await proxy.deliverLate();

    expect(await place()).toBe(before);
    await writer.commit([insert(4)]);
    expect(await stored()).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ["some of its commits", "UPDATE commit_fences SET seq = seq - 1"],
    ["all since before it was opened", "DELETE FROM commit_fences"],
  ])("writes nothing any more once the server has lost %s", async (_, rollBack) => {
    const told: string[] = [];
    const { writer, direct, stored } = await openServer({ onGoneBack: () => told.push("gone back") });
    await writer.commit([insert(1)]);
    await direct.execute(rollBack);

    for (const id of [2, 3]) {
      const commit = writer.commit([insert(id)]);
      await expect(commit).rejects.toThrow("has lost confirmed commits");
      await expect(commit).rejects.toBeInstanceOf(StorageUnavailable);
    }
    expect(told).toEqual(["gone back"]);
    expect(await stored()).toEqual([1]);
  });

  it("keeps the places of several nodes apart, and those of the living, whatever a node's own clock says", async () => {
    const { writer, proxy, server, direct, stored } = await openServer();
    await writer.commit([insert(1)]);
    const time = timeWithClock(() => Date.now() + 30 * DAY_MS);
    const ahead = createServerEngine({ url: server.url, authToken: null, time });
    onTestFinished(() => ahead.close());

    await ahead.batch([insert(2)]);
    proxy.next("answer lost", "INSERT INTO t");
    await Promise.all([writer.commit([insert(3)]), ahead.batch([insert(4)])]);

    expect((await direct.execute("SELECT count(*) AS n FROM commit_fences")).rows[0]!.n).toBe(2);
    expect((await stored()).toSorted()).toEqual([1, 2, 3, 4]);
  });

  it("says within the limit that a server which accepts and never answers is away", async () => {
    const { writer, reading, server } = await openServer({ requestMs: 2_000, settleMs: 2_000 });
    await writer.commit([insert(1)]);

    server.signal("SIGSTOP");
    onTestFinished(() => server.signal("SIGCONT"));
    const began = systemTime.monotonic();
    const commit = writer.commit([insert(2)]);
    await expect(rawRows(reading, "SELECT 1", [])).rejects.toThrow("has not answered within 2 s");
    await expect(commit).rejects.toBeInstanceOf(CommitUncertain);
    await expect(writer.commit([insert(3)])).rejects.toThrow("has not answered");
    expect(systemTime.monotonic() - began).toBeLessThan(30_000);
    server.signal("SIGCONT");
    await writer.commit([insert(4)]);
  });

  it("ends a start on a server that accepts and never answers, in one line", async () => {
    const server = await startSqld(sqld!);
    server.signal("SIGSTOP");
    onTestFinished(() => server.signal("SIGCONT"));
    const config = configFor(temporaryFolder());
    const client = openServerClient({ url: server.url, authToken: null, requestMs: 2_000 });
    onTestFinished(() => client.close());

    const asked = requireDurable(client, config, "The database", createLogger(config));
    const failed = asStartError(await asked.catch((error: unknown) => error), "The database");

    expect(failed.message).toBe(
      "The database cannot be reached: the server has not answered within 2 s. Check DATABASE_URL and DATABASE_AUTH_TOKEN.",
    );
  });

  // sqld takes two seconds to compress a mebibyte of sealed bytes, and its answer then comes in 16,000 pieces.
  it("asks for answers as they are, not compressed", async () => {
    const asked: unknown[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(request.headers["accept-encoding"]);
      response.writeHead(500).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const client = openServerClient({ url: `http://127.0.0.1:${port}`, authToken: null });
    onTestFinished(() => client.close());
    await expect(client.execute("SELECT 1")).rejects.toThrow("500");
    expect(new Set(asked)).toEqual(new Set(["identity"]));
  });

  it("gives up a request that is not answered in time", async () => {
    const { writer, reading, proxy, stored } = await openServer({ requestMs: 2_000 });
    await writer.commit([insert(1)]);

    proxy.next("no answer", "SELECT 'never'");
    await expect(rawRows(reading, "SELECT 'never'", [])).rejects.toBeInstanceOf(StorageUnavailable);
    proxy.next("no answer", "INSERT INTO t");
    await writer.commit([insert(2)]);

    expect(await stored()).toEqual([1, 2]);
  });

  it("writes nothing as long as a commit could be lost with the server's power, and goes on when none can", async () => {
    const told: boolean[] = [];
    const { writer, server, stored } = await openServer({ onDurable: (durable) => void told.push(durable) });
    await writer.commit([insert(1)]);

    await server.setDurability("relaxed");
    const weak = writer.commit([insert(2)]);
    await expect(weak).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(weak).rejects.toThrow("durability_mode");
    await expect(writer.commit([insert(3)])).rejects.toBeInstanceOf(StorageUnavailable);
    await server.setDurability("strong");
    await writer.commit([insert(4)]);

    expect(await stored()).toEqual([1, 4]);
    expect([told[0], told.at(-1)]).toEqual([false, true]);
  });

  it("acknowledges nothing after the server was started anew, until it is told to be durable again", async () => {
    const { writer, server, stored } = await openServer({
      durability: "relaxed",
      onDurable: () => undefined,
    });
    await server.setDurability("strong");
    await writer.commit([insert(1)]);

    await server.kill();
    await server.start();
    await expect(writer.commit([insert(2)])).rejects.toThrow("durability_mode");
    await server.setDurability("strong");
    await writer.commit([insert(3)]);

    expect(await stored()).toEqual([1, 3]);
  });

  it("does not start on a server that may lose commits, and leaves nothing there", async () => {
    const server = await startSqld(sqld!, { durability: "relaxed" });
    const config = configFor(temporaryFolder(), { DATABASE_URL: server.url, ...NODE_SETTINGS });

    const failed = await openStore(config, createLogger(config)).catch(
      (error: unknown) => error as StartError,
    );

    expect(failed).toBeInstanceOf(StartError);
    expect((failed as StartError).message).toMatch(
      /^The database of DATABASE_URL .*curl .*"durability_mode":"strong"/,
    );
    expect((failed as StartError).message).not.toContain("\n");
    const direct = createClient({ url: server.url });
    const { rows } = await direct.execute("SELECT name FROM sqlite_master");
    direct.close();
    expect(rows).toEqual([]);
  });

  it("gives every node the database's time, however wrong its own clock is or becomes", async () => {
    const { url } = await startSqld(sqld!);
    const lines: string[] = [];
    let wrong = 600_000;
    const time = timeWithClock(() => Date.now() + wrong);
    const stores = await Promise.all(
      [time, systemTime].map((one) => {
        const config = configFor(temporaryFolder(), {
          DATABASE_URL: url,
          LOG_LEVEL: "warn",
          ...NODE_SETTINGS,
        });
        return openStore(config, createLogger(config, { write: (line) => void lines.push(line) }), one);
      }),
    );
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
    const apart = (): number => Math.abs(stores[0]!.now() - stores[1]!.now());

    expect(apart()).toBeLessThan(2_000);
    wrong = -DAY_MS;
    expect(apart()).toBeLessThan(2_000);
    expect(Math.abs(stores[0]!.time.now() - Date.now())).toBeLessThan(2_000);
    expect(lines.filter((line) => line.includes('"seconds":600'))).toHaveLength(1);
  });

  it("is not ready while commits could be lost, says why, and is ready again", async () => {
    const server = await startSqld(sqld!);
    const lines: string[] = [];
    const folder = temporaryFolder();
    const config = configFor(folder, { DATABASE_URL: server.url, LOG_LEVEL: "info", ...NODE_SETTINGS });
    const store = await openStore(config, createLogger(config, { write: (line) => void lines.push(line) }));
    onTestFinished(() => store.close());

    expect(await checkStorage(store, folder)).toMatchObject({ database: true, reason: null });
    await server.setDurability("relaxed");
    const weak = await checkStorage(store, folder);
    expect(weak.database).toBe(false);
    expect(weak.reason).toContain("may lose acknowledged commits");
    await server.setDurability("strong");
    expect(await checkStorage(store, folder)).toMatchObject({ database: true, reason: null });

    expect(lines.filter((line) => line.includes("durability_mode"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("durable again"))).toHaveLength(1);
  });

  it("carries a whole store: migrated, sealed, warned about when that is allowed, and opened again", async () => {
    const server = await startSqld(sqld!, { durability: "relaxed" });
    const warnings: string[] = [];
    const config = configFor(temporaryFolder(), {
      DATABASE_URL: server.url,
      LOG_LEVEL: "warn",
      ...NODE_SETTINGS,
      ALLOW_WEAK_DURABILITY: "1",
    });
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
});
