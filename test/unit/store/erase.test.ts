import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import { createErasure, type Erasure } from "../../../src/retention/erasure.ts";
import { ERASED_AT_ONCE, eraseRecord } from "../../../src/store/erase.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { scansOf, watchStatements } from "./query-plan.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "./temporary.ts";
import { rawRows } from "./rows.ts";

type TableConfig = ReturnType<typeof getTableConfig>;
const tables = Object.values(schema)
  .filter((table) => is(table, SQLiteTable))
  .map((table) => getTableConfig(table));
/** What belongs to no number: facts of the database, what belongs to an account, and the list of erased numbers. */
const NOT_OF_A_DEVICE = [
  "meta",
  "news",
  "accounts",
  "api_keys",
  "idempotency",
  "idempotency_claims",
  "erased_devices",
  "commit_fences",
  "leases",
  "nodes",
  "send_counts",
  "sessions",
  "audit_log",
  "traffic_totals",
];
const ofDevices = tables.filter(({ name }) => !NOT_OF_A_DEVICE.includes(name));

/** A row whose every column is filled, so that nothing depends on defaults. Ids of both devices' rows differ. */
function rowOf({ name, columns }: TableConfig, deviceId: number): Statement {
  const args = columns.map((column) => {
    if (column.columnType === "SQLiteInteger") return deviceId;
    return column.dataType === "buffer" ? Buffer.from([deviceId]) : String(deviceId);
  });
  const names = columns.map((column) => `"${column.name}"`).join(", ");
  return { sql: `INSERT INTO ${name} (${names}) VALUES (${args.map(() => "?").join(", ")})`, args };
}

const exists = async (store: Store, table: string): Promise<number[]> =>
  (await rawRows(store, `SELECT * FROM ${table}`, [])).map((row) =>
    Number(row["device_id"] ?? row["outbox_id"] ?? row["delivery_id"] ?? row["id"]),
  );

function erasureOf(store: Store, dataDir = temporaryFolder()): Erasure {
  const erasure = createErasure({ store, config: { dataDir }, log: silentLog(configFor(dataDir)) });
  onTestFinished(() => erasure.stop());
  return erasure;
}

const inboxRow = (deviceId: number, n: number): Statement => ({
  sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
    VALUES (?, 'c', 's', ?, 0, 'text', 'done', 0, 0, x'00')`,
  args: [deviceId, `w${n}`],
});

const outboxRows = (deviceId: number, n: number): Statement[] => [
  {
    sql: `INSERT INTO outbox (id, device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
      VALUES (?, ?, ?, 'c', 'j', 'n', 'text', 'api', 0, x'00', 0)`,
    args: [n, deviceId, `w${n}`],
  },
  { sql: "INSERT INTO outbox_history (outbox_id, state, at) VALUES (?, 'sent', 0)", args: [n] },
];

describe("erasing a number", () => {
  it("leaves no row of it in any table of the schema, and every row of the others", async () => {
    const store = await temporaryStore();
    await store.writer.commit(ofDevices.flatMap((table) => [rowOf(table, 1), rowOf(table, 2)]));
    const erasure = erasureOf(store);

    await erasure.erase(1);
    await erasure.finished();

    for (const { name } of ofDevices)
      expect(
        { name, of: await exists(store, name) },
        "Erase the table in src/store/erase.ts or src/retention/erasure.ts, or name it in NOT_OF_A_DEVICE of this file.",
      ).toEqual({ name, of: [2] });
  });

  it("takes its record, credentials and settings away at once, whatever else it has", async () => {
    const store = await temporaryStore();
    await store.writer.commit(ofDevices.map((table) => rowOf(table, 1)));

    await store.writer.commit(eraseRecord(1, 5));

    for (const table of ["devices", "wa_creds", "webhooks", "bot_bindings", "group_lists"])
      expect({ table, of: await exists(store, table) }).toEqual({ table, of: [] });
    expect(await exists(store, "erased_devices")).toEqual([1]);
  });

  it("goes in small steps, each found by an index, however many rows there are", async () => {
    const watched = watchStatements(await temporaryStore());
    const { store } = watched;
    for (let from = 0; from < 1_100; from += 100)
      await store.writer.commit(Array.from({ length: 100 }, (_, n) => inboxRow(1, from + n)));
    await store.writer.commit(Array.from({ length: 450 }, (_, n) => outboxRows(1, n + 1)).flat());
    watched.units.length = 0;
    watched.affected.length = 0;
    const erasure = erasureOf(store);

    await erasure.erase(1);
    await erasure.finished();
    const made = watched.seen.filter(({ sql }) => /^(DELETE|SELECT)/.test(sql));

    expect(await exists(store, "inbox")).toEqual([]);
    expect(await exists(store, "outbox")).toEqual([]);
    expect(await exists(store, "outbox_history")).toEqual([]);
    expect(Math.max(...watched.affected)).toBeLessThanOrEqual(ERASED_AT_ONCE);
    for (const statement of made) {
      if (/FROM erased_devices/.test(statement.sql)) continue;
      expect({ sql: statement.sql, scans: await scansOf(store, statement) }).toEqual({
        sql: statement.sql,
        scans: [],
      });
    }
  });

  it("goes on after a restart, and takes along what came late", async () => {
    let now = Date.now();
    const store = await temporaryStore({}, () => now);
    await store.writer.commit(Array.from({ length: 900 }, (_, n) => inboxRow(1, n)));
    const killed = erasureOf(store);
    await killed.erase(1);
    await killed.stop();
    expect((await exists(store, "inbox")).length).toBeGreaterThan(0);

    const next = erasureOf(store);
    next.start();
    await next.finished();
    expect(await exists(store, "inbox")).toEqual([]);

    await store.writer.commit([inboxRow(1, 1)]);
    now += 2 * 3_600_000;
    const third = erasureOf(store);
    third.start();
    await third.finished();
    expect(await exists(store, "inbox")).toEqual([]);
    expect(await exists(store, "erased_devices")).toEqual([]);
  });

  it("removes its files from the disk", async () => {
    const store = await temporaryStore();
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "media", "in"), { recursive: true });
    for (const name of ["mf_1", "mf_2", "in/1-5", "in/1-7.ab12cd34.part", "in/11-5"])
      writeFileSync(join(dataDir, "media", name), "x");
    const sent = (id: string, deviceId: number): Statement => ({
      sql: "INSERT INTO media_files (id, device_id, path, meta, created_at) VALUES (?, ?, ?, x'00', 0)",
      args: [id, deviceId, join("media", id)],
    });
    await store.writer.commit([sent("mf_1", 1), sent("mf_2", 11)]);
    const erasure = erasureOf(store, dataDir);

    await erasure.erase(1);
    await erasure.finished();

    expect(readdirSync(join(dataDir, "media")).toSorted()).toEqual(["in", "mf_2"]);
    expect(readdirSync(join(dataDir, "media", "in"))).toEqual(["11-5"]);
  });
});
