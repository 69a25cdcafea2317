import { describe, expect, it } from "vitest";
import { systemTime } from "../../src/model/time.ts";
import type { Engine } from "../../src/store/engine.ts";
import { ConstraintViolation, StorageUnavailable } from "../../src/store/errors.ts";
import { defineQuery, integer, nullable, text } from "../../src/store/query.ts";
import { createReading, type RowSource } from "../../src/store/reading.ts";
import type { Statement } from "../../src/store/store.ts";
import { createWriter } from "../../src/store/write/writer.ts";
import { rawRows } from "../unit/store/rows.ts";

/** A database of this test's own, with what an engine makes of it. */
export interface Rig {
  engine: Engine;
  source: RowSource;
  /** Somebody else begins to write; the answer lets go of it. */
  hold(): Promise<() => Promise<void>>;
  /** Makes the database one that can only be read, and back. Null: this engine's database has no such state. */
  readOnly: ((on: boolean) => Promise<void>) | null;
  /** Bytes that one value may have at least. */
  largestValue: number;
}

export const TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT NOT NULL, bin BLOB)";

export const insert = (id: number, note = ""): Statement => ({
  sql: "INSERT INTO t (id, note) VALUES (?, ?)",
  args: [id, note],
});

/** One whose result can be read again. */
export const recoverable = (id: number): Statement => ({
  sql: "INSERT INTO t (id, note) VALUES (?, '') RETURNING id",
  args: [id],
  recover: { sql: "SELECT id FROM t WHERE id = ?", args: [id] },
});

const IDS = defineQuery("SELECT id FROM t ORDER BY rowid", { id: integer() });
const NOTES = defineQuery("SELECT id, note FROM t ORDER BY id", { id: integer(), note: text() });
const BINS = defineQuery("SELECT id, length(bin) AS size, bin FROM t ORDER BY id", {
  id: integer(),
  size: nullable(integer()),
  bin: { decode: (value) => value },
});

/** The writer and the reads over an engine, as the store has them. */
export function over({ engine, source }: Pick<Rig, "engine" | "source">) {
  const writer = createWriter({ engine, time: systemTime });
  const reading = createReading(source, systemTime);
  const ids = async (): Promise<number[]> => (await reading.read(IDS)).map(({ id }) => id);
  return { writer, reading, ids };
}

/** What every engine does, whatever lies below it. */
export function engineContract(open: () => Promise<Rig>): void {
  const start = async () => {
    const rig = await open();
    return { ...rig, ...over(rig) };
  };

  describe("every engine", () => {
    it("commits units whole and in the order of the calls, around those that fail", async () => {
      const { writer, ids } = await start();
      const settled: number[] = [];

      const all = Array.from({ length: 300 }, (_, index) => {
        const unit = index % 97 === 50 ? [insert(1_000 + index), insert(1)] : [insert(index + 1)];
        const give = index % 3 === 0 ? writer.soon : writer.commit;
        return give(unit).then(
          () => settled.push(index),
          () => settled.push(index),
        );
      });
      await writer.drain();
      await Promise.all(all);

      expect(settled).toEqual(settled.toSorted((a, b) => a - b));
      const wanted = Array.from({ length: 300 }, (_, index) => index + 1).filter(
        (id) => (id - 1) % 97 !== 50,
      );
      expect(await ids()).toEqual(wanted);
    });

    it("refuses the guilty unit alone, and says of what kind its fault is", async () => {
      const { writer, ids } = await start();

      const outcomes = await Promise.allSettled([
        writer.commit([insert(1)]),
        writer.commit([insert(2), insert(1)]),
        writer.commit([{ sql: "INSERT INTO nowhere VALUES (1)", args: [] }]),
        writer.commit([{ sql: "not even SQL", args: [] }]),
        writer.commit([{ sql: "INSERT INTO t VALUES (9, NULL, NULL)", args: [] }]),
        writer.commit([insert(3)]),
      ]);

      const reasons = outcomes.map((outcome) =>
        outcome.status === "rejected" ? (outcome.reason as Error) : null,
      );
      expect(reasons[0]).toBeNull();
      expect(reasons[1]).toBeInstanceOf(ConstraintViolation);
      expect(reasons[1]).toMatchObject({ statement: 1 });
      expect(reasons[2]!.message).toContain("nowhere");
      expect(reasons[3]).toBeInstanceOf(Error);
      for (const own of reasons.slice(1, 5)) expect(own).not.toBeInstanceOf(StorageUnavailable);
      expect(reasons[4]).toBeInstanceOf(ConstraintViolation);
      expect(reasons[5]).toBeNull();
      expect(await ids()).toEqual([1, 3]);
    });

    it("gives each unit the results of its own statements", async () => {
      const { writer } = await start();

      const [first, second, third] = await Promise.all([
        writer.commit([insert(1), insert(2)]),
        writer.commit([{ sql: "INSERT INTO t (id, note) VALUES (3, 'x') RETURNING id, note", args: [] }]),
        writer.commit([{ sql: "UPDATE t SET note = 'y' WHERE id < 3", args: [] }]),
      ]);

      expect(first).toHaveLength(2);
      expect(first[1]).toMatchObject({ rowsAffected: 1 });
      expect(second[0]!.rows).toHaveLength(1);
      expect(second[0]!.rows[0]).toMatchObject({ id: 3, note: "x" });
      expect(third[0]!.rowsAffected).toBe(2);
    });

    it("shows a commit to the read after it, every time", async () => {
      const { writer, reading } = await start();
      await writer.commit([insert(1, "0")]);

      for (let round = 1; round <= 50; round++) {
        await writer.commit([{ sql: "UPDATE t SET note = ? WHERE id = 1", args: [String(round)] }]);
        expect(await reading.read(NOTES)).toEqual([{ id: 1, note: String(round) }]);
      }
    });

    it("waits for somebody else who writes, and lets others read meanwhile", async () => {
      const { writer, ids, hold } = await start();
      await writer.commit([insert(1)]);
      const letGo = await hold();
      let released = false;

      const committed = writer.commit([insert(2)]).then(() => released);
      expect(await ids()).toEqual([1]);
      released = true;
      await letGo();

      expect(await committed).toBe(true);
      await writer.commit([insert(3)]);
      expect(await ids()).toEqual([1, 2, 3]);
    });

    it("stores bytes and large values as they are", async () => {
      const { writer, reading, largestValue } = await start();
      const large = Buffer.alloc(largestValue, 7);
      const small = Buffer.from("xx-small-xx").subarray(3, 8);

      await writer.commit([
        { sql: "INSERT INTO t VALUES (1, '', ?)", args: [large] },
        { sql: "INSERT INTO t VALUES (2, ?, ?)", args: ["é".repeat(100_000), small] },
        { sql: "INSERT INTO t VALUES (3, '', ?)", args: [new Uint8Array(0)] },
      ]);

      const rows = await reading.read(BINS);
      expect(rows.map(({ size }) => size)).toEqual([largestValue, 5, 0]);
      expect(Buffer.from(rows[0]!.bin as Uint8Array).equals(large)).toBe(true);
      expect(Buffer.from(rows[1]!.bin as Uint8Array).toString()).toBe("small");
      expect((await reading.read(NOTES))[1]!.note).toHaveLength(100_000);
    });

    it("reads integers beyond 2^53 without loss, or names their column, and gives all other rows", async () => {
      const { writer, reading } = await start();
      const huge = 9_007_199_254_740_993n;

      const [returned] = await writer.commit([
        { sql: "INSERT INTO t (id, note) VALUES (?, 'huge') RETURNING id, 5 AS small", args: [huge] },
        insert(2, "small"),
      ]);

      expect(returned!.rows[0]).toMatchObject({ id: huge, small: 5 });
      const rows = await reading.read(NOTES);
      expect(rows.map(({ note }) => note)).toEqual(["small", "huge"]);
      expect(rows[0]!.id).toBe(2);
      expect(() => rows[1]!.id).toThrow("id has an unexpected value");
      expect((await rawRows(reading, "SELECT id FROM t ORDER BY id", [])).map(({ id }) => id)).toEqual([
        2,
        huge,
      ]);
    });

    it("refuses what no database takes before it is tried", async () => {
      const { writer, reading, ids } = await start();

      await expect(writer.commit([insert(Number.NaN)])).rejects.toThrow("Argument 1");
      await expect(rawRows(reading, "SELECT ?", [undefined as never])).rejects.toThrow("Argument 1");

      expect(await ids()).toEqual([]);
    });

    it("says StorageUnavailable while the database can only be read, and goes on afterwards", async () => {
      const { writer, ids, readOnly } = await start();
      if (readOnly === null) return;
      await writer.commit([insert(1)]);

      await readOnly(true);
      await expect(writer.commit([insert(2)])).rejects.toBeInstanceOf(StorageUnavailable);
      expect(await ids()).toEqual([1]);
      await readOnly(false);
      await writer.commit([insert(3)]);

      expect(await ids()).toEqual([1, 3]);
    });

    it("commits what it was given before it closes, and is StorageUnavailable after", async () => {
      const { writer, reading, ids, source } = await start();
      const before = [writer.commit([insert(1)]), writer.soon([insert(2)])];
      await writer.drain();
      await Promise.all(before);
      expect(await ids()).toEqual([1, 2]);

      source.close();
      await writer.close();

      await expect(writer.commit([insert(3)])).rejects.toBeInstanceOf(StorageUnavailable);
      await expect(reading.read(IDS)).rejects.toBeInstanceOf(StorageUnavailable);
    });
  });
}
