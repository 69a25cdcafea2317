import { describe, expect, it } from "vitest";
import { apiKeys, botBindings, meta } from "../../../drizzle/schema.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import { boolean, bytes, defineQuery, integer, json, nullable, text } from "../../../src/store/query.ts";
import { createReading } from "../../../src/store/reading.ts";
import { BatchFailed } from "../../../src/store/engine.ts";
import { temporaryStore } from "./temporary.ts";
import { rawRows } from "./rows.ts";

const BINDINGS = defineQuery(
  `SELECT device_id, bot_id AS botId, enabled, priority, devices
  FROM bot_bindings JOIN api_keys ON api_keys.id = bot_id`,
  {
    deviceId: botBindings.deviceId,
    botId: botBindings.botId,
    enabled: botBindings.enabled,
    priority: botBindings.priority,
    devices: apiKeys.devices,
  },
);
const PAGE = defineQuery("SELECT key, value FROM meta WHERE key > ? ORDER BY key LIMIT ?", {
  key: meta.key,
  value: meta.value,
});
const VALUES = defineQuery("SELECT ? AS whole, ? AS words, ? AS yes, ? AS bin, ? AS list, ? AS absent", {
  whole: integer(),
  words: text(),
  yes: boolean(),
  bin: bytes(),
  list: json<number[]>(),
  absent: nullable(meta.value),
});
const SIZES = defineQuery(
  "SELECT column1 AS id, column2 AS size FROM (VALUES (1, 5), (2, 9007199254740993), (3, 7))",
  {
    id: integer(),
    size: integer(),
  },
);

describe("a query", () => {
  it("gives rows as the schema describes them", async () => {
    const store = await temporaryStore();
    await store.writer.commit([
      {
        sql: "INSERT INTO bot_bindings VALUES (1, 'a', 1, NULL, NULL), (1, 'b', 0, 7, NULL)",
        args: [],
      },
      {
        sql: `INSERT INTO api_keys (id, account_id, name, hash, prefix, permissions, devices, created_at)
          VALUES ('a', '', '', '1', '', '[]', '["x"]', 0), ('b', '', '', '2', '', '[]', NULL, 0)`,
        args: [],
      },
    ]);

    expect(await store.read(BINDINGS)).toEqual([
      { deviceId: 1, botId: "a", enabled: true, priority: null, devices: ["x"] },
      { deviceId: 1, botId: "b", enabled: false, priority: 7, devices: null },
    ]);
    expect((await store.readOne(BINDINGS))?.botId).toBe("a");
    expect(await store.readOne(PAGE, ["zzz", 1])).toBeNull();
  });

  it("gives numbers, words, truth, bytes and JSON that SQL computes", async () => {
    const store = await temporaryStore();

    const row = await store.readOne(VALUES, [
      5,
      "five",
      true,
      Buffer.from("xbytes").subarray(1),
      "[1]",
      null,
    ]);

    expect(row).toEqual({
      whole: 5,
      words: "five",
      yes: true,
      bin: Buffer.from("bytes"),
      list: [1],
      absent: null,
    });
  });

  it("names the column of a value that does not fit, and gives all other rows", async () => {
    const store = await temporaryStore();

    const rows = await store.read(SIZES);

    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect([rows[0]!.size, rows[2]!.size]).toEqual([5, 7]);
    expect(() => rows[1]!.size).toThrow("size has an unexpected value (9007199254740993 is beyond 2^53)");
  });

  it("gives many rows in pages, and way to others between them", async () => {
    const store = await temporaryStore();
    const keys = Array.from({ length: 450 }, (_, index) => `k${String(index).padStart(3, "0")}`);
    await store.writer.commit(keys.map((key) => ({ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] })));
    let turns = 0;
    const turn = (): void => void (turns++, (going = setImmediate(turn)));
    let going = setImmediate(turn);

    const sizes: number[] = [];
    const found: string[] = [];
    for await (const page of store.pages(PAGE, (last) => [last?.key ?? "k"])) {
      sizes.push(page.length);
      found.push(...page.map(({ key }) => key).filter((key) => /^k\d/.test(key)));
    }
    clearImmediate(going);

    expect(found).toEqual(keys);
    expect(sizes.slice(0, 2)).toEqual([200, 200]);
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

describe("a read that fails", () => {
  it("is the statement's own fault when the statement is wrong", async () => {
    const store = await temporaryStore();

    const outcome = rawRows(store, "SELECT 1 FROM nowhere", []);

    await expect(outcome).rejects.toThrow("nowhere");
    await expect(outcome).rejects.not.toBeInstanceOf(StorageUnavailable);
    await expect(rawRows(store, "SELECT ?", [undefined as never])).rejects.toThrow("Argument 1");
  });

  it("is StorageUnavailable when the server is away", async () => {
    const store = await temporaryStore();
    const other = createReading(
      {
        read() {
          throw new BatchFailed("unavailable", null, new TypeError("fetch failed"));
        },
        reconnect: () => undefined,
      },
      store.time,
    );

    const outcome = rawRows(other, "SELECT 1", []);

    await expect(outcome).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(outcome).rejects.toThrow("The database cannot be read: fetch failed");
  });

  it("is repeated while somebody else holds the file, and the event loop goes on meanwhile", async () => {
    const store = await temporaryStore();
    let busy = 3;
    const reads = createReading(
      {
        read() {
          if (busy-- > 0) throw new BatchFailed("busy", 0, new Error("database is locked"));
          return { columns: ["n"], values: [[1]] };
        },
        reconnect: () => undefined,
      },
      store.time,
    );

    expect(await rawRows(reads, "SELECT 1 AS n", [])).toMatchObject([{ n: 1 }]);
  });
});
