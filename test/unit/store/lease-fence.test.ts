import { createClient } from "@libsql/client";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import { ConstraintViolation, NotOwner } from "../../../src/store/errors.ts";
import { createFileEngine } from "../../../src/store/file/file-engine.ts";
import { createLeaseFence, type Lease } from "../../../src/store/write/lease-fence.ts";
import type { Statement } from "../../../src/store/store.ts";
import { createWriter } from "../../../src/store/write/writer.ts";
import { temporaryFolder } from "./temporary.ts";

const insert = (id: number): Statement => ({ sql: "INSERT INTO t VALUES (?)", args: [id] });

/** Partitions 1 to 4 are ours by epoch 10, as we believe; the database may know better. */
async function openWriter({ alone = false } = {}) {
  const file = join(temporaryFolder(), "t.db");
  const engine = createFileEngine(file);
  const tables = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY)",
    "CREATE TABLE leases (p INTEGER PRIMARY KEY NOT NULL, node TEXT, heir TEXT, epoch INTEGER NOT NULL, until INTEGER NOT NULL)",
    "INSERT INTO leases (p, epoch, until) SELECT value, 10, (unixepoch() + 60) * 1000 FROM json_each('[1, 2, 3, 4, 5]')",
  ];
  await engine.batch(tables.map((sql) => ({ sql, args: [] })));
  const batches: string[][] = [];
  const refused: Lease[] = [];
  const believed = new Map([1, 2, 3, 4].map((partition) => [partition, 10]));
  const fence = createLeaseFence();
  fence.serve({
    epochOf: (partition) => believed.get(partition) ?? null,
    refused: (leases) => refused.push(...leases),
  });
  const writer = createWriter({
    engine: {
      ...engine,
      batch(statements) {
        batches.push(statements.map(({ sql }) => sql));
        return engine.batch(statements);
      },
    },
    time: systemTime,
    fence: alone ? undefined : fence,
  });
  const reader = createClient({ url: `file:${file}` });
  onTestFinished(async () => {
    reader.close();
    await writer.close();
  });
  const ids = async (): Promise<number[]> =>
    (await reader.execute("SELECT id FROM t ORDER BY rowid")).rows.map(({ id }) => Number(id));
  const query = (sql: string) => reader.execute(sql);
  return { writer, batches, refused, believed, ids, query };
}

describe("a unit that is written for a number as its owner", () => {
  it("passes under one guard with all others of its transaction", async () => {
    const { writer, batches, ids } = await openWriter();

    const results = await Promise.all([
      writer.commit([insert(1), insert(2)], { owning: 1 }),
      writer.commit([insert(3)], { owning: 258 }),
      writer.commit([insert(4)]),
      writer.commit([insert(5)], { owning: 1 }),
    ]);

    expect(batches).toHaveLength(1);
    expect(batches[0]).toHaveLength(1 + 5);
    expect(results.map((one) => one.map(({ rowsAffected }) => rowsAffected))).toEqual([
      [1, 1],
      [1],
      [1],
      [1],
    ]);
    expect(await ids()).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ["taken by another", "UPDATE leases SET epoch = 11 WHERE p IN (2, 4)"],
    ["over", "UPDATE leases SET until = unixepoch() * 1000 - 1 WHERE p IN (2, 4)"],
    ["gone", "DELETE FROM leases WHERE p IN (2, 4)"],
  ])("is refused when its lease is %s, it alone, and whoever holds leases is told", async (_, change) => {
    const { writer, batches, refused, ids, query } = await openWriter();
    await query(change);

    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 1, 2].map((owning, index) => writer.commit([insert(index)], { owning })),
    );

    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
    ]);
    expect(outcomes[1]).toMatchObject({ reason: expect.any(NotOwner) });
    expect(outcomes[3]).toMatchObject({ reason: { deviceId: 4 } });
    expect(await ids()).toEqual([0, 2, 4]);
    expect(new Set(refused.map(({ partition }) => partition))).toEqual(new Set([2, 4]));
    // The first attempt, the question which are lost, and the rest.
    expect(batches).toHaveLength(3);
  });

  it("is written under the lease of the moment in which it was given", async () => {
    const { writer, believed, ids, query } = await openWriter();
    await query("UPDATE leases SET epoch = 11 WHERE p = 1");

    const early = writer.commit([insert(1)], { owning: 1 });
    believed.set(1, 11);
    const late = writer.commit([insert(2)], { owning: 1 });

    await expect(early).rejects.toBeInstanceOf(NotOwner);
    await late;
    expect(await ids()).toEqual([2]);
  });

  it("is refused without asking when this process does not have the number", async () => {
    const { writer, batches } = await openWriter();

    await expect(writer.commit([insert(1)], { owning: 5 })).rejects.toMatchObject({
      name: "NotOwner",
      deviceId: 5,
    });
    await expect(writer.soon([insert(1)], { owning: 5 })).rejects.toBeInstanceOf(NotOwner);

    expect(batches).toEqual([]);
  });

  it("fails for its own fault beside others as one that nobody guards does", async () => {
    const { writer, ids } = await openWriter();

    const outcomes = await Promise.allSettled([
      writer.commit([insert(1)], { owning: 1 }),
      writer.commit([insert(2), insert(1)], { owning: 2 }),
      writer.commit([insert(3)]),
    ]);

    expect(outcomes[1]).toMatchObject({ status: "rejected", reason: expect.any(ConstraintViolation) });
    expect(outcomes[1]).toMatchObject({ reason: { statement: 1 } });
    expect(await ids()).toEqual([1, 3]);
  });

  it("costs one that is alone nothing", async () => {
    const { writer, batches } = await openWriter({ alone: true });

    await Promise.all([writer.commit([insert(1)], { owning: 1 }), writer.commit([insert(2)], { owning: 5 })]);

    expect(batches).toEqual([["INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (?)"]]);
  });

  it("leaves the table of leases as it is", async () => {
    const { writer, query } = await openWriter();
    const before = await query("SELECT * FROM leases ORDER BY p");
    await writer.commit([insert(1)], { owning: 1 });
    await writer.commit([insert(1)], { owning: 1 }).catch(() => undefined);

    expect((await query("SELECT * FROM leases ORDER BY p")).rows).toEqual(before.rows);
  });
});
