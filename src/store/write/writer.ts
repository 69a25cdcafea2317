import type { ResultSet } from "@libsql/client";
import type { Cancel, Time } from "../../model/time.ts";
import { hasFailpoints } from "../../model/failpoint.ts";
import { wrongArgument } from "../arguments.ts";
import type { Condition } from "../condition.ts";
import type { Engine } from "../engine.ts";
import { NotOwner, StorageUnavailable } from "../errors.ts";
import { commitInOrder, type Unit } from "./group-commit.ts";
import type { LeaseFence } from "./lease-fence.ts";
import { ownerlessWrite } from "./ownerless.ts";
import type { CommitOptions, Statement, Writer } from "../store.ts";

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
  condition?: Pick<Condition, "state" | "room" | "erases" | "refusal" | "failed">;
  /** Only among several processes; one that is alone owns every number, and asks nobody. */
  fence?: LeaseFence;
}

/**
 * Group commit: what was given while the event loop went round once is committed in one transaction, so that one disk
 * flush serves many units. A lone unit waits for nothing but the end of the current turn of the event loop.
 */
export function createWriter(deps: WriterDeps): ClosableWriter {
  const { engine, time, condition, fence } = deps;
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
      // What erases is written with the room that a full disk is being given back.
      await condition?.room;
      const units = waiting.slice(0, MAX_UNITS_PER_COMMIT).filter((unit) => mayBeTried(unit, condition));
      waiting = waiting.slice(MAX_UNITS_PER_COMMIT);
      // Whatever goes wrong here, nobody is left without an answer, and the next commit is tried.
      await commitInOrder(deps, units).catch((error: unknown) => rejectAll(units, error));
    }
    running = false;
  }

  /** @param place what the unit is put into; the order in which units are given is kept all the same */
  function give(
    statements: Statement[],
    place: () => Unit[],
    options: CommitOptions | undefined,
  ): Promise<ResultSet[]> {
    if (closed) return Promise.reject(new StorageUnavailable("it is being closed"));
    if (statements.length === 0) return Promise.resolve([]);
    const mistake = mistakeIn(statements, options);
    if (mistake !== null) return Promise.reject(mistake);
    const owning = owningOf(fence, options);
    if (owning === false) return Promise.reject(new NotOwner(options!.owning!));
    const committed = new Promise<ResultSet[]>((resolve, reject) => {
      place().push({ statements, owning, resolve, reject });
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

  function commit(statements: Statement[], options?: CommitOptions): Promise<ResultSet[]> {
    const committed = give(statements, () => (waiting.push(...patient.splice(0)), waiting), options);
    hurry();
    return committed;
  }

  function soon(statements: Statement[], options?: CommitOptions): Promise<ResultSet[]> {
    const committed = give(statements, () => patient, options);
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

/** A fault of whoever wrote the statements. */
function mistakeIn(statements: Statement[], options: CommitOptions | undefined): Error | null {
  const wrong = statements.map(wrongArgument).find((reason) => reason !== null);
  if (wrong !== undefined) return new TypeError(wrong);
  const ownerless = hasFailpoints && options?.owning === undefined ? ownerlessWrite(statements) : null;
  return ownerless === null ? null : new Error(ownerless);
}

/**
 * The lease of this moment: what was read and decided under an older one must not pass under a newer one.
 *
 * @returns false when this process does not have the number
 */
function owningOf(
  fence: LeaseFence | undefined,
  { owning: deviceId }: CommitOptions = {},
): Unit["owning"] | false {
  if (fence === undefined || typeof deviceId !== "number") return null;
  const lease = fence.leaseOf(deviceId);
  return lease !== null && { deviceId, lease };
}

function mayBeTried({ statements, reject }: Unit, condition: WriterDeps["condition"]): boolean {
  const refusal = condition?.refusal(statements) ?? null;
  if (refusal !== null) reject(new StorageUnavailable(refusal));
  return refusal === null;
}

function rejectAll(units: Unit[], cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : String(cause);
  for (const unit of units) unit.reject(new StorageUnavailable(reason, { cause }));
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
