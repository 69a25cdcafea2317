import Database from "libsql";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/log.ts";
import { StorageUnavailable } from "../../src/store/errors.ts";
import { spawnThread } from "../../src/store/thread/entry.ts";
import { createThreadEngine } from "../../src/store/thread/engine.ts";
import { canSlowDown, slowDisk } from "../bench/slow-disk.ts";
import { runScript } from "../unit/store/child.ts";
import { configFor, temporaryFolder } from "../unit/store/temporary.ts";
import { engineContract, insert, over, recoverable } from "./engine.ts";
import { openFileRig } from "./on-file.ts";

const SLOW_COMMITS = fileURLToPath(new URL("slow-commits.ts", import.meta.url));
const log = createLogger(configFor("/nowhere"), { write: () => undefined });

/** An engine whose present thread can be ended at a chosen moment. */
async function openMortal() {
  const threads: Worker[] = [];
  let endBeforeAnswer = false;
  let failing = false;
  const rig = await openFileRig((file) =>
    createThreadEngine(file, log, (data) => {
      const thread = failing ? new Worker("process.exit(1)", { eval: true }) : spawnThread(data);
      const emit = thread.emit.bind(thread);
      thread.emit = ((event: string, ...args: unknown[]) => {
        if (event !== "message" || !endBeforeAnswer) return emit(event as "message", ...(args as [unknown]));
        endBeforeAnswer = false;
        void thread.terminate();
        return true;
      }) as typeof thread.emit;
      threads.push(thread);
      return thread;
    }),
  );
  return {
    ...rig,
    ...over(rig),
    threads,
    failStarts: (on: boolean) => void (failing = on),
    loseNextAnswer: () => void (endBeforeAnswer = true),
  };
}

describe("the engine that writes a file in a thread of its own", () => {
  engineContract(() => openFileRig((file) => createThreadEngine(file, log)));
});

it("a file that somebody still holds when the thread begins is waited for", async () => {
  const file = join(temporaryFolder(), "held.db");
  const other = new Database(file);
  // Before the file is in WAL mode, whoever writes keeps everybody else out.
  other.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT); BEGIN EXCLUSIVE");
  const opening = createThreadEngine(file, log);
  const failed = opening.then(
    () => null,
    (error: unknown) => error,
  );
  // Without patience it fails long before; with it nothing is to be seen from outside but that it has not.
  await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, 500))]);
  other.exec("COMMIT");
  other.close();

  expect(await failed).toBeNull();
  const engine = await opening;
  expect(await engine.batch([{ sql: "SELECT count(*) AS n FROM t", args: [] }])).toHaveLength(1);
  await engine.close();
});

describe("a thread that ends", () => {
  it("between two commits is replaced, and nobody notices", async () => {
    const { writer, ids, threads } = await openMortal();
    await writer.commit([insert(1)]);

    await threads[0]!.terminate();
    await writer.commit([insert(2)]);

    expect(await ids()).toEqual([1, 2]);
    expect(threads).toHaveLength(2);
  });

  it("within a commit takes it back, and the next thread does it, once", async () => {
    const { writer, ids, threads } = await openMortal();
    // SQLite is busy with it for as long as it takes to end the thread.
    const long =
      "INSERT INTO t (id, note) SELECT 2, count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000) SELECT i FROM n)";

    const commits = [writer.commit([insert(1)]), writer.commit([{ sql: long, args: [] }, insert(3)])];
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await threads[0]!.terminate();
    await Promise.all(commits);

    expect(await ids()).toEqual([1, 2, 3]);
    expect(threads).toHaveLength(2);
  });

  it("after a commit and before its answer: it is stored once, and only its results are lost", async () => {
    const { writer, ids, loseNextAnswer } = await openMortal();
    await writer.commit([insert(1)]);

    loseNextAnswer();
    const [recovered, plain, returning] = await Promise.all([
      writer.commit([recoverable(5)]),
      writer.commit([insert(2)]),
      writer.commit([{ sql: "INSERT INTO t (id, note) VALUES (3, '') RETURNING id", args: [] }]),
    ]);

    expect(recovered[0]!.rows[0]!.id).toBe(5);
    expect(plain).toHaveLength(1);
    expect(() => returning[0]!.rows).toThrow(StorageUnavailable);
    expect((await ids()).toSorted()).toEqual([1, 2, 3, 5]);
    await writer.commit([insert(4)]);
    expect((await ids()).toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  it("and cannot be replaced is no hang: commits are StorageUnavailable until it can", async () => {
    const { writer, ids, threads, failStarts } = await openMortal();
    await writer.commit([insert(1)]);

    failStarts(true);
    await threads[0]!.terminate();
    await expect(writer.commit([insert(2)])).rejects.toBeInstanceOf(StorageUnavailable);
    failStarts(false);
    await writer.commit([insert(3)]);

    expect(await ids()).toEqual([1, 3]);
  });
});

/** How often the event loop went round, looking each 10 ms, while three commits waited for a disk that takes 200 ms. */
async function turnsDuringCommits(engine: "thread" | "file"): Promise<number> {
  const child = runScript(SLOW_COMMITS, [engine, temporaryFolder()], slowDisk(200));
  await child.printed((output) => output.includes("done"));
  const { turns, commits } = JSON.parse(child.output().split("\n")[0]!) as { turns: number; commits: number };
  expect(commits).toBe(3);
  return turns;
}

describe.skipIf(!canSlowDown())("on a slow disk", () => {
  it("the event loop goes on while the thread commits", async () => {
    expect(await turnsDuringCommits("thread")).toBeGreaterThan(20);
  });

  it("the event loop waits when there is no thread", async () => {
    expect(await turnsDuringCommits("file")).toBeLessThan(20);
  });
});
