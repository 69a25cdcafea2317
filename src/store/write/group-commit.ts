import type { ResultSet } from "@libsql/client";
import type { Time } from "../../model/time.ts";
import { codeOf, type Condition } from "../condition.ts";
import { BatchFailed, type Engine } from "../engine.ts";
import { CommitUncertain, ConstraintViolation, NotOwner, StorageUnavailable } from "../errors.ts";
import { keyOf, type Lease, type LeaseFence } from "./lease-fence.ts";
import { whileBusy } from "../patience.ts";
import type { Statement } from "../store.ts";

/** Statements that are committed together, and whoever waits for it. */
export interface Unit {
  statements: Statement[];
  /** The number that it is written for as its owner, and the lease of the moment in which it was given; null: anybody's. */
  owning: { deviceId: number; lease: Lease } | null;
  resolve(results: ResultSet[]): void;
  reject(reason: unknown): void;
}

/** What a commit is made with. */
export interface CommitDeps {
  engine: Pick<Engine, "batch" | "reconnect">;
  time: Pick<Time, "pause">;
  condition?: Pick<Condition, "state" | "room" | "erases" | "failed">;
  /** Only among several processes. */
  fence?: LeaseFence;
}

/**
 * Commits units in their order. When a statement of one unit fails, the units before it are committed, it is tried
 * once more by itself, and the rest goes on: nobody is refused because of somebody else, and no order changes. Units of
 * numbers that another process has are refused, and the others committed as if those had never been given.
 */
export async function commitInOrder(deps: CommitDeps, units: Unit[]): Promise<void> {
  let rest = units;
  while (rest.length > 0) {
    const failed = await tryTogether(deps, rest);
    if (failed === null) return;
    if (failed === "not owner") {
      rest = await withoutLost(deps, rest);
      continue;
    }
    const ownFault = failed.kind === "constraint" || failed.kind === "statement";
    const guilty = ownFault ? guiltyUnit(rest, failed.index) : null;
    if (guilty === null || rest.length === 1) return refuse(deps, rest, failed);
    if (guilty > 0) await commitInOrder(deps, rest.slice(0, guilty));
    await commitInOrder(deps, rest.slice(guilty, guilty + 1));
    rest = rest.slice(guilty + 1);
  }
}

async function refuse(deps: CommitDeps, units: Unit[], failed: BatchFailed): Promise<void> {
  const { condition } = deps;
  const mayGoOn =
    failed.kind === "unavailable" && condition?.state === "good" ? condition.erases : () => false;
  const again = units.filter(({ statements }) => mayGoOn(statements));
  const rejectWith = (refused: Unit[]): void => refused.forEach((unit) => unit.reject(publicReason(failed)));
  rejectWith(units.filter((unit) => !again.includes(unit)));
  if (failed.kind === "uncertain") for (const { statements } of units) tellCommitted(statements);
  if (failed.kind !== "unavailable" || condition === undefined) return;
  condition.failed(codeOf(failed));
  await condition.room;
  if (isFull(condition)) await commitInOrder(deps, again);
  else rejectWith(again);
}

const isFull = ({ state }: Pick<Condition, "state">): boolean => state === "full";

const leasesOf = (units: Unit[]): Lease[] => units.flatMap(({ owning }) => owning?.lease ?? []);

/** Null when all units are committed and their callers told so. */
async function tryTogether(deps: CommitDeps, units: Unit[]): Promise<BatchFailed | "not owner" | null> {
  const leases = leasesOf(units);
  const guard = leases.length > 0 && deps.fence ? [deps.fence.guard(leases)] : [];
  const statements = units.length === 1 ? units[0]!.statements : units.flatMap((unit) => unit.statements);
  let results: ResultSet[];
  try {
    results = await batch(deps, guard.length === 0 ? statements : [...guard, ...statements]);
  } catch (error) {
    const { kind, index, cause } = error as BatchFailed;
    if (guard.length === 0 || index === null) return error as BatchFailed;
    return index === 0 && kind === "constraint"
      ? "not owner"
      : new BatchFailed(kind, Math.max(0, index - 1), cause);
  }
  let from = guard.length;
  for (const unit of units) {
    const to = from + unit.statements.length;
    unit.resolve(results.slice(from, to));
    from = to;
  }
  tellCommitted(statements);
  return null;
}

function batch({ engine, time }: CommitDeps, statements: Statement[]): Promise<ResultSet[]> {
  return whileBusy(
    time,
    () => engine.batch(statements),
    () => engine.reconnect(),
  );
}

/**
 * Refuses the units whose leases are lost; what is lost stays so. The database says which, so that the others need not be
 * tried one by one.
 *
 * @returns the others
 */
async function withoutLost(deps: CommitDeps, units: Unit[]): Promise<Unit[]> {
  const leases = leasesOf(units);
  let lost: Set<string>;
  try {
    const [answer] = await batch(deps, [deps.fence!.question(leases)]);
    lost = deps.fence!.refused(leases, answer!);
    if (lost.size === 0) throw new BatchFailed("busy", null, new Error("the leases have changed since"));
  } catch (error) {
    await refuse(deps, units, error as BatchFailed);
    return [];
  }
  const isLost = ({ owning }: Unit): boolean => owning !== null && lost.has(keyOf(owning.lease));
  for (const unit of units) if (isLost(unit)) unit.reject(new NotOwner(unit.owning!.deviceId));
  return units.filter((unit) => !isLost(unit));
}

/** Whoever is told must not throw: the commit stands all the same. */
function tellCommitted(statements: readonly Statement[]): void {
  for (const { onCommitted } of statements) onCommitted?.();
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
