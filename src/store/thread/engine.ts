import type { ResultSet } from "@libsql/client";
import { once } from "node:events";
import type { Logger } from "../../log.ts";
import { createSequence } from "../../model/shares/sequence.ts";
import { BatchFailed, type Engine } from "../engine.ts";
import { recoverResults } from "../write/lost-results.ts";
import { toResultSet } from "../result.ts";
import type { Statement } from "../store.ts";
import { spawnThread } from "./entry.ts";
import { createSqlNumbers, toBatchFailed, type ThreadAnswer, type Request } from "./protocol.ts";
import { openWalIndex, type WalIndex } from "./wal-index.ts";

type Work = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;
type WaitingCall = { resolve(answer: ThreadAnswer): void; reject(reason: unknown): void };

/** The thread has ended; nothing more will come from it. */
class ThreadEnded extends Error {}

/**
 * Writes to a file in a thread of its own: a slow disk delays what is committed, and nothing else. What a batch promises
 * is the same as without: it resolves after the disk has it.
 *
 * A thread that ends takes its transaction with it, or has committed it: the index of the WAL tells which. A new thread is
 * started for the next batch.
 *
 * @param spawn tests may hand in one that dies
 */
export async function createThreadEngine(
  file: string,
  log: Logger,
  spawn: typeof spawnThread = spawnThread,
): Promise<Engine> {
  let thread = await startThread(file, spawn);
  const index: WalIndex = openWalIndex(file);
  let closed = false;
  // One thing after the other, so that what the index says belongs to the batch that was under way.
  const sequence = createSequence();

  const inTurn = <T>(work: (thread: Thread) => Promise<T>): Promise<T> =>
    sequence(async () => {
      if (closed) throw new BatchFailed("unavailable", null, new Error("it is closed"));
      if (thread.ended) thread = await restart();
      return work(thread);
    });

  async function restart(): Promise<Thread> {
    log.error("the database's thread has ended; starting it again");
    try {
      return await startThread(file, spawn);
    } catch (error) {
      throw new BatchFailed("unavailable", null, error);
    }
  }

  async function batch(current: Thread, statements: Statement[]) {
    const before = index.countCommits();
    try {
      return await plainBatch(current, statements);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      return settle(statements, before, error);
    }
  }

  /** Committed, or certainly not: then it is as if somebody had held the lock, and is tried again. */
  async function settle(statements: Statement[], before: number | null, error: ThreadEnded) {
    const after = index.countCommits();
    if (before === null || after === null) throw new BatchFailed("uncertain", null, error);
    if (before === after) throw new BatchFailed("busy", null, error);
    return recoverResults(statements, async (reads) => {
      thread = await restart();
      return plainBatch(thread, reads);
    });
  }

  return {
    batch: (statements) => inTurn((current) => batch(current, statements)),
    reconnect: () => inTurn((current) => plainly(current, "reconnect")).catch(() => undefined),
    checkpoint: () => inTurn((current) => plainly(current, "checkpoint")),
    async close() {
      await inTurn((current) => plainly(current, "close")).catch(() => undefined);
      closed = true;
      await thread.end();
      index.close();
    },
  };
}

async function plainBatch(thread: Thread, statements: Statement[]): Promise<ResultSet[]> {
  const { results, failed } = await thread.ask({ do: "batch", statements: statements.map(thread.number) });
  if (failed !== undefined) throw toBatchFailed(failed);
  return results!.map(toResultSet);
}

async function plainly(thread: Thread, request: "checkpoint" | "reconnect" | "close"): Promise<void> {
  const { failed } = await thread.ask({ do: request });
  if (failed !== undefined) throw toBatchFailed(failed);
}

interface Thread {
  readonly ended: boolean;
  number: ReturnType<typeof createSqlNumbers>;
  /** @throws ThreadEnded */
  ask(work: Work): Promise<ThreadAnswer>;
  end(): Promise<void>;
}

/** @throws what opening the database threw */
async function startThread(file: string, spawn: typeof spawnThread): Promise<Thread> {
  const worker = spawn({ file });
  const waiting = new Map<number, WaitingCall>();
  let next = 1;
  let ended = false;

  function answered(answer: ThreadAnswer): void {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    // Nothing is under way: the process may end.
    if (waiting.size === 0) worker.unref();
  }

  function fail(reason: string): void {
    ended = true;
    for (const { reject } of waiting.values()) reject(new ThreadEnded(reason));
    waiting.clear();
  }

  const exited = once(worker, "exit").then(() =>
    Promise.reject(new Error("the database's thread did not start")),
  );
  exited.catch(() => undefined);
  await Promise.race([once(worker, "message"), exited]);
  worker.on("message", answered);
  worker.on("error", (error) => fail(`the database's thread has failed: ${error.message}`));
  worker.on("exit", () => fail("the database's thread has ended"));
  worker.unref();
  return {
    get ended() {
      return ended;
    },
    number: createSqlNumbers(),
    ask(work) {
      if (ended) return Promise.reject(new ThreadEnded("the database's thread has ended"));
      const id = next++;
      worker.ref();
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, ...work });
      });
    },
    async end() {
      await worker.terminate();
    },
  };
}
