import { performance } from "node:perf_hooks";
import { createClient } from "@libsql/client";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import type { StorageState } from "../../../src/store/condition.ts";
import type { Engine } from "../../../src/store/engine.ts";
import { BatchFailed } from "../../../src/store/engine.ts";
import { ConstraintViolation, StorageUnavailable } from "../../../src/store/errors.ts";
import { createFileEngine } from "../../../src/store/file/file-engine.ts";
import type { Statement } from "../../../src/store/store.ts";
import { createWriter } from "../../../src/store/write/writer.ts";
import { temporaryFolder } from "./temporary.ts";

const insert = (id: number, note = ""): Statement => ({
  sql: "INSERT INTO t VALUES (?, ?)",
  args: [id, note],
});

const endOfTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A writer on a real file, and the sizes of the transactions that it made. */
async function openWriter() {
  const file = join(temporaryFolder(), "t.db");
  const engine = createFileEngine(file);
  await engine.batch([{ sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT NOT NULL)", args: [] }]);
  const sizes: number[] = [];
  const counted: Engine = {
    ...engine,
    batch(statements) {
      sizes.push(statements.length);
      return engine.batch(statements);
    },
  };
  const time = movedTime();
  const writer = createWriter({ engine: counted, time });
  const reader = createClient({ url: `file:${file}` });
  const ids = async (): Promise<number[]> => {
    const { rows } = await reader.execute("SELECT id FROM t ORDER BY rowid");
    return rows.map((row) => Number(row.id));
  };
  return { file, writer, engine, time, sizes, ids };
}

/** Pauses as the host does; what is to run later waits until the time is moved. */
function movedTime() {
  let at = 0;
  let due: { at: number; run: () => void }[] = [];
  return {
    pause: systemTime.pause,
    after(ms: number, run: () => void) {
      const entry = { at: at + ms, run };
      due.push(entry);
      return () => void (due = due.filter((other) => other !== entry));
    },
    move(ms: number) {
      at += ms;
      const now = due.filter((entry) => entry.at <= at);
      due = due.filter((entry) => entry.at > at);
      for (const { run } of now) run();
    },
  };
}

describe("the writer", () => {
  it("commits units that are given together in one transaction, and answers each with its own results", async () => {
    const { writer, sizes, ids } = await openWriter();

    const results = await Promise.all([
      writer.commit([insert(1), insert(2)]),
      writer.commit([{ sql: "INSERT INTO t VALUES (3, 'x') RETURNING id, note", args: [] }]),
      writer.commit([{ sql: "UPDATE t SET note = 'y' WHERE id < 3", args: [] }]),
    ]);

    expect(sizes).toEqual([4]);
    expect(results.map((unit) => unit.length)).toEqual([2, 1, 1]);
    expect(results[0]![1]).toMatchObject({ rowsAffected: 1, lastInsertRowid: 2n });
    expect(results[1]![0]!.rows[0]).toMatchObject({ id: 3, note: "x" });
    expect(results[1]![0]!.rows[0]![1]).toBe("x");
    expect(results[2]![0]!.rowsAffected).toBe(2);
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it("refuses a unit that breaks a rule alone and whole, and keeps all others", async () => {
    const { writer, ids } = await openWriter();
    await writer.commit([insert(5)]);

    const outcomes = await Promise.allSettled([
      writer.commit([insert(1)]),
      writer.commit([insert(2), insert(5)]),
      writer.commit([insert(3)]),
      writer.commit([{ sql: "INSERT INTO t VALUES (9, NULL)", args: [] }]),
      writer.commit([insert(4)]),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    const refused = outcomes[1] as PromiseRejectedResult;
    expect(refused.reason).toBeInstanceOf(ConstraintViolation);
    expect(refused.reason).toMatchObject({ statement: 1 });
    expect(await ids()).toEqual([1, 3, 4, 5]);
  });

  it("refuses a unit with broken SQL or a value that the database does not take, and no other", async () => {
    const { writer, ids } = await openWriter();

    const outcomes = await Promise.allSettled([
      writer.commit([insert(1)]),
      writer.commit([{ sql: "INSERT INTO nowhere VALUES (1)", args: [] }]),
      writer.commit([{ sql: "INSERT INTO t VALUES (?, ?)", args: [7, undefined as never] }]),
      writer.commit([{ sql: "INSERT INTO t VALUES (?, ?)", args: [2, true] }]),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(String((outcomes[1] as PromiseRejectedResult).reason)).toContain("nowhere");
    expect(String((outcomes[2] as PromiseRejectedResult).reason)).toContain("Argument 2");
    expect(await ids()).toEqual([1, 2]);
  });

  it("commits in the order of the calls, over many transactions and around failing units", async () => {
    const { writer, sizes } = await openWriter();
    const settled: number[] = [];

    const all = Array.from({ length: 1_000 }, (_, index) => {
      const unit = index % 97 === 50 ? [insert(0), insert(0)] : [insert(index + 1)];
      return writer.commit(unit).then(
        () => settled.push(index),
        () => settled.push(index),
      );
    });
    await Promise.all(all);

    expect(settled).toEqual(settled.toSorted((a, b) => a - b));
    expect(sizes.length).toBeLessThan(100);
  });

  it("lets a later unit see what an earlier one of the same transaction wrote", async () => {
    const { writer } = await openWriter();

    const [, second] = await Promise.all([
      writer.commit([insert(1, "first")]),
      writer.commit([{ sql: "UPDATE t SET note = note || '!' WHERE id = 1 RETURNING note", args: [] }]),
    ]);

    expect(second[0]!.rows[0]!.note).toBe("first!");
  });

  it("does not keep a lone unit waiting", async () => {
    const { writer } = await openWriter();
    await writer.commit([insert(1)]);
    const times: number[] = [];
    for (let id = 2; id < 42; id++) {
      const start = performance.now();
      await writer.commit([insert(id)]);
      times.push(performance.now() - start);
    }
    // The fastest says what the writer itself adds; the slow ones say what else the machine does.
    expect(Math.min(...times)).toBeLessThan(2);
  });

  it("waits for somebody else's write lock, goes on with a fresh connection, and loses nothing", async () => {
    const { file, writer, ids } = await openWriter();
    const other = createClient({ url: `file:${file}`, concurrency: 1 });
    const blocking = await other.transaction("write");
    let released = false;

    const commits = [1, 2, 3].map((id) => writer.commit([insert(id)]).then(() => released));
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    released = true;
    await blocking.commit();

    expect(await Promise.all(commits)).toEqual([true, true, true]);
    await writer.commit([insert(4)]);
    expect(await ids()).toEqual([1, 2, 3, 4]);
  });

  it("gives up with UNAVAILABLE when the lock is not given back, having written nothing", async () => {
    const { file, writer, ids } = await openWriter();
    const other = createClient({ url: `file:${file}`, concurrency: 1 });
    const blocking = await other.transaction("write");

    const outcome = writer.commit([insert(1)]);
    await expect(outcome).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(outcome).rejects.toMatchObject({ code: "UNAVAILABLE", status: 503 });
    await blocking.rollback();

    await writer.commit([insert(2)]);
    expect(await ids()).toEqual([2]);
  });

  it("says UNAVAILABLE when the file may not grow, writes nothing of the unit, and goes on when it may again", async () => {
    const { writer, engine, ids } = await openWriter();
    const [size] = await engine.batch([{ sql: "PRAGMA max_page_count = 3", args: [] }]);
    expect(size!.rows).toHaveLength(1);

    const outcomes = await Promise.allSettled([
      writer.commit([insert(1)]),
      writer.commit([insert(2, "x".repeat(100_000))]),
    ]);
    await engine.batch([{ sql: "PRAGMA max_page_count = 100000", args: [] }]);

    for (const outcome of outcomes) {
      expect(outcome.status).toBe("rejected");
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StorageUnavailable);
    }
    expect(await ids()).toEqual([]);
    await writer.commit([insert(3)]);
    expect(await ids()).toEqual([3]);
  });

  it("does not put one unit's guilt on another when the first try of its neighbours has to be repeated", async () => {
    const { engine, ids } = await openWriter();
    let failures = 1;
    const flaky: Engine = {
      ...engine,
      batch(statements) {
        if (failures-- > 0)
          return Promise.reject(new BatchFailed("busy", null, new Error("database is locked")));
        return engine.batch(statements);
      },
    };
    const writer = createWriter({ engine: flaky, time: systemTime });

    const outcomes = await Promise.allSettled([
      writer.commit([insert(1)]),
      writer.commit([insert(1)]),
      writer.commit([insert(2)]),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await ids()).toEqual([1, 2]);
  });

  it("drops the connection after every failure that is not a unit's own", async () => {
    const { engine, ids } = await openWriter();
    const calls: string[] = [];
    const failures = [
      new BatchFailed("busy", null, new Error("database is locked")),
      new BatchFailed("unavailable", 0, new Error("disk I/O error")),
    ];
    const failing: Engine = {
      ...engine,
      batch(statements) {
        calls.push("batch");
        const failure = failures.shift();
        return failure === undefined ? engine.batch(statements) : Promise.reject(failure);
      },
      reconnect() {
        calls.push("reconnect");
        return engine.reconnect();
      },
    };
    const writer = createWriter({ engine: failing, time: systemTime });

    await expect(writer.commit([insert(1)])).rejects.toBeInstanceOf(StorageUnavailable);
    await writer.commit([insert(2)]);
    await expect(writer.commit([insert(2)])).rejects.toBeInstanceOf(ConstraintViolation);

    expect(calls).toEqual(["batch", "reconnect", "batch", "reconnect", "batch", "batch"]);
    expect(await ids()).toEqual([2]);
  });

  it("stores booleans as 0 and 1, bytes as bytes, and gives both back", async () => {
    const { writer } = await openWriter();
    const bytes = Buffer.from("xx-bytes-xx").subarray(3, 8);

    const [result] = await writer.commit([
      { sql: "SELECT ? AS yes, ? AS no, ? AS bytes", args: [true, false, bytes] },
    ]);

    expect(result!.rows[0]).toMatchObject({ yes: 1, no: 0 });
    expect(Buffer.from(result!.rows[0]!.bytes as ArrayBuffer).toString()).toBe("bytes");
  });

  it("ends draining although new units keep coming", async () => {
    const { writer, ids } = await openWriter();
    const flood = { running: true, next: 1 };
    const flooding = (async () => {
      while (flood.running) await writer.commit([insert(flood.next++)]);
    })();

    await writer.drain();
    const drained = (await ids()).length;
    flood.running = false;
    await flooding;

    expect(drained).toBeGreaterThanOrEqual(1);
  });

  it("commits what it was given before it closes, and takes nothing after", async () => {
    const { writer, ids } = await openWriter();
    const before = writer.commit([insert(1)]);

    const closing = writer.close();
    const after = writer.commit([insert(2)]);

    await expect(after).rejects.toBeInstanceOf(StorageUnavailable);
    await closing;
    await before;
    expect(await ids()).toEqual([1]);
  });
});

describe("what may wait", () => {
  it("joins the next commit, in the order of the calls", async () => {
    const { writer, sizes, ids } = await openWriter();

    const all = [writer.soon([insert(1)]), writer.soon([insert(2)]), writer.commit([insert(3)])];
    await Promise.all(all);

    expect(sizes).toEqual([3]);
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it("is committed after 100 ms when nothing else is, and by draining and closing at once", async () => {
    const { writer, time, ids } = await openWriter();
    const alone = writer.soon([insert(1)]);
    expect(await ids()).toEqual([]);

    time.move(99);
    expect(await ids()).toEqual([]);
    time.move(1);
    await alone;
    expect(await ids()).toEqual([1]);

    void writer.soon([insert(2)]);
    await writer.drain();
    expect(await ids()).toEqual([1, 2]);

    const last = writer.soon([insert(3)]);
    await writer.close();
    await last;
    expect(await ids()).toEqual([1, 2, 3]);
    await expect(writer.soon([insert(4)])).rejects.toBeInstanceOf(StorageUnavailable);
  });

  it("is refused alone and whole when it breaks a rule", async () => {
    const { writer, ids } = await openWriter();
    await writer.commit([insert(1)]);

    const [soon, commit] = await Promise.allSettled([
      writer.soon([insert(2), insert(1)]),
      writer.commit([insert(3)]),
    ]);

    expect(soon).toMatchObject({ status: "rejected", reason: expect.any(ConstraintViolation) as unknown });
    expect(commit.status).toBe("fulfilled");
    expect(await ids()).toEqual([1, 3]);
  });
});

describe("a writer whose surroundings fail", () => {
  it("answers everybody and goes on when the disk's state cannot be found out", async () => {
    const { engine, ids } = await openWriter();
    let broken = true;
    const writer = createWriter({
      engine: {
        ...engine,
        batch: (statements) =>
          broken
            ? Promise.reject(new BatchFailed("unavailable", null, new Error("disk I/O error")))
            : engine.batch(statements),
      },
      time: systemTime,
      condition: {
        state: "good",
        room: Promise.resolve(),
        erases: () => false,
        refusal: () => null,
        failed() {
          throw new Error("EROFS: read-only file system, statfs");
        },
      },
    });

    await expect(writer.commit([insert(1)])).rejects.toBeInstanceOf(StorageUnavailable);
    broken = false;
    await writer.commit([insert(2)]);

    expect(await ids()).toEqual([2]);
  });

  it("erases with the room that a disk is given back, also when it was full since just then", async () => {
    const { engine, ids } = await openWriter();
    await engine.batch([insert(1), insert(2)]);
    let hasRoom = false;
    let giveBack = (): void => undefined;
    const condition = {
      state: "good" as StorageState,
      room: Promise.resolve(),
      erases: (statements: Statement[]) => statements.every(({ sql }) => sql.startsWith("DELETE")),
      refusal: (statements: Statement[]) =>
        condition.state === "good" || condition.erases(statements) ? null : "the disk is full",
      failed() {
        condition.state = "full";
        condition.room = new Promise((resolve) => (giveBack = resolve));
      },
    };
    const writer = createWriter({
      engine: {
        ...engine,
        batch: (statements) =>
          hasRoom
            ? engine.batch(statements)
            : Promise.reject(new BatchFailed("unavailable", null, new Error("SQLITE_FULL"))),
      },
      time: systemTime,
      condition,
    });
    const erase = (id: number): Statement => ({ sql: "DELETE FROM t WHERE id = ?", args: [id] });

    const together = [writer.commit([erase(1)]), writer.commit([insert(3)])];
    await expect(together[1]).rejects.toBeInstanceOf(StorageUnavailable);
    const later = writer.commit([erase(2)]);
    hasRoom = true;
    giveBack();
    await Promise.all([together[0], later]);

    expect(await ids()).toEqual([]);

    // As when a read found the disk full.
    await engine.batch([insert(4)]);
    hasRoom = false;
    condition.failed();
    const afterRead = writer.commit([erase(4)]);
    await endOfTurns();
    hasRoom = true;
    giveBack();
    await afterRead;
    expect(await ids()).toEqual([]);
  });
});

describe("the writer on a database that refuses a whole batch without saying which statement it means", () => {
  it("finds the guilty unit by itself, refuses no other, and keeps the order", async () => {
    const { engine, ids } = await openWriter();
    const vague: Engine = {
      ...engine,
      batch(statements) {
        const broken = statements.some(({ sql }) => sql === "nonsense");
        return broken
          ? Promise.reject(new BatchFailed("statement", null, new Error("SQL_PARSE_ERROR")))
          : engine.batch(statements);
      },
    };
    const writer = createWriter({ engine: vague, time: systemTime });
    const settled: number[] = [];

    const outcomes = await Promise.allSettled(
      [insert(1), insert(2), { sql: "nonsense", args: [] }, insert(3)].map((statement, index) =>
        writer.commit([statement]).finally(() => settled.push(index)),
      ),
    );

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(settled).toEqual([0, 1, 2, 3]);
    expect(await ids()).toEqual([1, 2, 3]);
  });
});

describe("whoever wants to know that a statement is stored", () => {
  it("is told after its commit, and never when that has failed", async () => {
    const { writer, ids } = await openWriter();
    const told: number[] = [];
    const telling = (id: number): Statement => ({ ...insert(id), onCommitted: () => told.push(id) });
    const first = writer.commit([telling(1), telling(2)]);
    expect(told).toEqual([]);
    await first;
    expect(told).toEqual([1, 2]);
    await Promise.allSettled([writer.commit([telling(3)]), writer.commit([telling(4), telling(1)])]);
    expect(told).toEqual([1, 2, 3]);
    expect(await ids()).toEqual([1, 2, 3]);
  });
});
