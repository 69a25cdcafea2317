import type { ResultSet } from "@libsql/client";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, type Condition } from "./condition.ts";
import { BatchFailed, type Engine } from "./engine.ts";
import { ConstraintViolation, StorageUnavailable } from "./errors.ts";
import type { Statement, Writer } from "./store.ts";

interface Unit {
  statements: Statement[];
  resolve(results: ResultSet[]): void;
  reject(reason: unknown): void;
}

// A transaction of this many units takes a few milliseconds; more would only hold the event loop longer.
const MAX_UNITS_PER_COMMIT = 256;
// Who else could hold the file's lock for a moment is a backup tool; the pauses add up to five seconds. The event loop
// goes on meanwhile: SQLite itself is told not to wait.
const BUSY_PAUSES_MS = [1, 4, 15, 50, 130, 300, 500, 1_000, 1_500, 1_500];

export interface ClosableWriter extends Writer {
  /** Commits what was given so far; everything after is refused. */
  close(): Promise<void>;
}

/**
 * Group commit: what was given while the event loop went round once is committed in one transaction, so that one disk
 * flush serves many units. A lone unit waits for nothing but the end of the current turn of the event loop.
 *
 * @param condition what may be tried now; default: everything
 */
export function createWriter(
  engine: Engine,
  condition?: Pick<Condition, "refusal" | "failed">,
): ClosableWriter {
  let waiting: Unit[] = [];
  let closed = false;
  let running = false;
  let last: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      await endOfTurn();
      const units = waiting.slice(0, MAX_UNITS_PER_COMMIT).filter(mayBeTried);
      waiting = waiting.slice(MAX_UNITS_PER_COMMIT);
      await commitInOrder(engine, units, condition);
    }
    running = false;
  }

  function mayBeTried({ statements, reject }: Unit): boolean {
    const refusal = condition?.refusal(statements) ?? null;
    if (refusal !== null) reject(new StorageUnavailable(refusal));
    return refusal === null;
  }

  function commit(statements: Statement[]): Promise<ResultSet[]> {
    if (closed) return Promise.reject(new StorageUnavailable("it is being closed"));
    if (statements.length === 0) return Promise.resolve([]);
    const wrong = findWrongArgument(statements);
    if (wrong !== null) return Promise.reject(new TypeError(wrong));
    const committed = new Promise<ResultSet[]>((resolve, reject) => {
      waiting.push({ statements, resolve, reject });
    });
    last = committed;
    if (!running) void run();
    return committed;
  }

  async function drain(): Promise<void> {
    await last.catch(() => undefined);
  }

  return {
    commit,
    drain,
    async close() {
      closed = true;
      await drain();
      engine.close();
    },
  };
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Commits units in their order. When a statement of one unit fails, the units before it are committed, it is tried
 * once more by itself, and the rest goes on: nobody is refused because of somebody else, and no order changes.
 */
async function commitInOrder(
  engine: Engine,
  units: Unit[],
  condition: Pick<Condition, "failed"> | undefined,
): Promise<void> {
  let rest = units;
  while (rest.length > 0) {
    const failed = await tryTogether(engine, rest);
    if (failed === null) return;
    const guilty =
      failed.kind === "unavailable" || failed.kind === "busy" ? null : guiltyUnit(rest, failed.index);
    if (guilty === null || rest.length === 1) {
      if (failed.kind === "unavailable") condition?.failed(codeOf(failed));
      for (const unit of rest) unit.reject(publicReason(failed));
      return;
    }
    if (guilty > 0) await commitInOrder(engine, rest.slice(0, guilty), condition);
    await commitInOrder(engine, rest.slice(guilty, guilty + 1), condition);
    rest = rest.slice(guilty + 1);
  }
}

/** Null when all units are committed and their callers told so. */
async function tryTogether(engine: Engine, units: Unit[]): Promise<BatchFailed | null> {
  const statements = units.length === 1 ? units[0]!.statements : units.flatMap((unit) => unit.statements);
  let results: ResultSet[];
  try {
    results = await batchPatiently(engine, statements);
  } catch (error) {
    return error instanceof BatchFailed ? error : new BatchFailed("unavailable", null, error);
  }
  let from = 0;
  for (const unit of units) {
    const to = from + unit.statements.length;
    unit.resolve(results.slice(from, to));
    from = to;
  }
  return null;
}

async function batchPatiently(engine: Engine, statements: Statement[]): Promise<ResultSet[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await engine.batch(statements);
    } catch (error) {
      const kind = error instanceof BatchFailed ? error.kind : "unavailable";
      if (kind === "constraint" || kind === "statement") throw error;
      await engine.reconnect();
      const pause = BUSY_PAUSES_MS[attempt];
      if (kind !== "busy" || pause === undefined) throw error;
      await sleep(pause);
    }
  }
}

/** A failure that names no statement is put down to the first unit: tried alone, it says so itself, and so does the next. */
function guiltyUnit(units: Unit[], statementIndex: number | null): number {
  let before = 0;
  for (const [index, unit] of units.entries()) {
    before += unit.statements.length;
    if ((statementIndex ?? 0) < before) return index;
  }
  return 0;
}

function publicReason(failed: BatchFailed): Error {
  if (failed.kind === "constraint")
    return new ConstraintViolation(failed.message, failed.index ?? 0, failed.cause);
  if (failed.kind === "statement") return failed.cause instanceof Error ? failed.cause : failed;
  return new StorageUnavailable(failed.message, { cause: failed.cause });
}

function findWrongArgument(statements: Statement[]): string | null {
  for (const { sql, args } of statements)
    for (const [index, value] of args.entries())
      if (value === undefined || (typeof value === "number" && !Number.isFinite(value)))
        return `Argument ${index + 1} of "${sql}" is ${value}: the database takes no such value.`;
  return null;
}
