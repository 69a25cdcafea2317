import type { ResultSet } from "@libsql/client";
import { partitionOf } from "../../model/nodes/cluster.ts";
import type { Statement } from "../../model/statement.ts";

/** What this process believes to have: a partition, and the epoch under which it took it. */
export interface Lease {
  partition: number;
  epoch: number;
}

/** Who knows the leases of this process, and wants to hear when the database knows better. */
export interface LeaseHolder {
  /** Null: this process does not have the partition, as far as it knows. */
  epochOf(partition: number): number | null;
  /** The database has refused writes for these: this process has them no longer. */
  refused(leases: readonly Lease[]): void;
}

/**
 * Lets a commit pass only while every lease that it is made under is this process's own and alive by the database's clock.
 * One statement at the head of a transaction speaks for all of its units.
 */
export interface LeaseFence {
  /** From now on it is asked for the leases of this process. Until then there are none. */
  serve(holder: LeaseHolder): void;
  /** What a unit for this number is made under, at this moment; null: nothing may be written for it here. */
  leaseOf(deviceId: number): Lease | null;
  /** Breaks a rule, and the transaction with it, when one of the leases is not ours or over. Writes nothing otherwise. */
  guard(leases: readonly Lease[]): Statement;
  /** Reads which leases are not ours or over: none of these ever comes back. */
  question(leases: readonly Lease[]): Statement;
  /** @returns those leases that the question named, as `keyOf` has them; the holder is told */
  refused(leases: readonly Lease[], answer: ResultSet): Set<string>;
}

/** The database's own clock, in Unix milliseconds. */
export const DATABASE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

const LOST = `FROM json_each(?) AS held WHERE NOT EXISTS (SELECT 1 FROM leases
  WHERE p = held.value ->> 0 AND epoch = held.value ->> 1 AND until > ${DATABASE_NOW})`;
// `epoch` may not be null: that is how a write of one who has lost a lease fails. As a rule no row is inserted at all.
const GUARD = `INSERT INTO leases (epoch, until) SELECT NULL, 0 ${LOST}`;
const QUESTION = `SELECT held.value ->> 0 AS p, held.value ->> 1 AS epoch ${LOST}`;

/** A lease as a key of maps and sets. */
export const keyOf = ({ partition, epoch }: Lease): string => `${partition}:${epoch}`;

/** Leases as statements take them: `[[partition, epoch], …]`, each once. */
export function leaseList(leases: readonly Lease[]): string {
  const each = new Map(leases.map((lease) => [keyOf(lease), lease]));
  return JSON.stringify(Array.from(each.values(), ({ partition, epoch }) => [partition, epoch]));
}

/** For a process that is one of several. */
export function createLeaseFence(): LeaseFence {
  let holder: LeaseHolder | null = null;
  return {
    serve: (given) => void (holder = given),
    leaseOf(deviceId) {
      const partition = partitionOf(deviceId);
      const epoch = holder?.epochOf(partition) ?? null;
      return epoch === null ? null : { partition, epoch };
    },
    guard: (leases) => ({ sql: GUARD, args: [leaseList(leases)] }),
    question: (leases) => ({ sql: QUESTION, args: [leaseList(leases)] }),
    refused(leases, answer) {
      const named = new Set(
        answer.rows.map(({ p, epoch }) => keyOf({ partition: Number(p), epoch: Number(epoch) })),
      );
      holder?.refused(leases.filter((lease) => named.has(keyOf(lease))));
      return named;
    },
  };
}
