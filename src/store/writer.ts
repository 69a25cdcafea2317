import type { ResultSet } from "@libsql/client";
import type { Cancel, Time } from "../model/time.ts";
import { wrongArgument } from "./arguments.ts";
import { codeOf, type Condition } from "./condition.ts";
import type { BatchFailed, Engine } from "./engine.ts";
import { CommitUncertain, ConstraintViolation, StorageUnavailable } from "./errors.ts";
import { whileBusy } from "./patience.ts";
import type { Statement, Writer } from "./store.ts";

interface Unit {
  statements: Statement[];
  resolve(results: ResultSet[]): void;
  reject(reason: unknown): void;
}

// A transaction of this many units takes a few milliseconds; more would only hold the event loop longer.
const MAX_UNITS_PER_COMMIT = 256;
/** How long a unit that may wait does wait for another to be committed with. */
const SOON_MS = 100;

/** A writer and its end, for whoever opened it. */
interface ClosableWriter extends Writer {
  /** Commits what was given so far; everything after is refused. */
  close(): Promise<void>;
}

interface WriterDeps {
  engine: Pick<Engine, "batch" | "reconnect" | "close">;
  time: Pick<Time, "after" | "pause">;
  /** What may be tried now; default: everything. */
  condition?: Pick<Condition, "refusal" | "failed">;
}

/**
 * Group commit: what was given while the event loop went round once is committed in one transaction, so that one disk
 * flush serves many units. A lone unit waits for nothing but the end of the current turn of the event loop.
 */
export function createWriter(deps: WriterDeps): ClosableWriter {
  const { engine, time, condition } = deps;
  let waiting: Unit[] = [];
  /** Given by `soon`, and not joined by anything yet. */
  let patient: Unit[] = [];
  let cancelSoon: Cancel | null = null;
  let closed = false;
  let running = false;
  let last: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      await endOfTurn();
      const units = waiting.slice(0, MAX_UNITS_PER_COMMIT).filter(mayBeTried);
      waiting = waiting.slice(MAX_UNITS_PER_COMMIT);
      // Whatever goes wrong here, nobody is left without an answer, and the next commit is tried.
      await commitInOrder(deps, units).catch((error: unknown) => rejectAll(units, error));
    }
    running = false;
  }

  function mayBeTried({ statements, reject }: Unit): boolean {
    const refusal = condition?.refusal(statements) ?? null;
    if (refusal !== null) reject(new StorageUnavailable(refusal));
    return refusal === null;
  }

  /** @param place what the unit is put into; the order in which units are given is kept all the same */
  function give(statements: Statement[], place: () => Unit[]): Promise<ResultSet[]> {
    if (closed) return Promise.reject(new StorageUnavailable("it is being closed"));
    if (statements.length === 0) return Promise.resolve([]);
    const wrong = statements.map(wrongArgument).find((reason) => reason !== null);
    if (wrong !== undefined) return Promise.reject(new TypeError(wrong));
    const committed = new Promise<ResultSet[]>((resolve, reject) => {
      place().push({ statements, resolve, reject });
    });
    last = committed;
    return committed;
  }

  function hurry(): void {
    cancelSoon?.();
    cancelSoon = null;
    waiting.push(...patient);
    patient = [];
    if (!running && waiting.length > 0) void run();
  }

  function commit(statements: Statement[]): Promise<ResultSet[]> {
    const committed = give(statements, () => (waiting.push(...patient.splice(0)), waiting));
    hurry();
    return committed;
  }

  function soon(statements: Statement[]): Promise<ResultSet[]> {
    const committed = give(statements, () => patient);
    if (patient.length >= MAX_UNITS_PER_COMMIT) hurry();
    else if (patient.length > 0) cancelSoon ??= time.after(SOON_MS, hurry);
    return committed;
  }

  async function drain(): Promise<void> {
    hurry();
    await last.catch(() => undefined);
  }

  return {
    commit,
    soon,
    drain,
    async close() {
      closed = true;
      await drain();
      await engine.close();
    },
  };
}

function rejectAll(units: Unit[], cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : String(cause);
  for (const unit of units) unit.reject(new StorageUnavailable(reason, { cause }));
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Commits units in their order. When a statement of one unit fails, the units before it are committed, it is tried
 * once more by itself, and the rest goes on: nobody is refused because of somebody else, and no order changes.
 */
async function commitInOrder(deps: WriterDeps, units: Unit[]): Promise<void> {
  let rest = units;
  while (rest.length > 0) {
    const failed = await tryTogether(deps, rest);
    if (failed === null) return;
    const ownFault = failed.kind === "constraint" || failed.kind === "statement";
    const guilty = ownFault ? guiltyUnit(rest, failed.index) : null;
    if (guilty === null || rest.length === 1) {
      for (const unit of rest) unit.reject(publicReason(failed));
      if (failed.kind === "unavailable") deps.condition?.failed(codeOf(failed));
      return;
    }
    if (guilty > 0) await commitInOrder(deps, rest.slice(0, guilty));
    await commitInOrder(deps, rest.slice(guilty, guilty + 1));
    rest = rest.slice(guilty + 1);
  }
}

/** Null when all units are committed and their callers told so. */
async function tryTogether({ engine, time }: WriterDeps, units: Unit[]): Promise<BatchFailed | null> {
  const statements = units.length === 1 ? units[0]!.statements : units.flatMap((unit) => unit.statements);
  let results: ResultSet[];
  try {
    results = await whileBusy(
      time,
      () => engine.batch(statements),
      () => engine.reconnect(),
    );
  } catch (error) {
    return error as BatchFailed;
  }
  let from = 0;
  for (const unit of units) {
    const to = from + unit.statements.length;
    unit.resolve(results.slice(from, to));
    from = to;
  }
  return null;
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
  if (failed.kind === "uncertain") return new CommitUncertain(failed.message, failed.cause);
  return new StorageUnavailable(failed.message, { cause: failed.cause });
}
