import type { Row } from "@libsql/client";
import type { Statement } from "../store.ts";
import { IS_DURABLE } from "./durability.ts";

/**
 * A row of `commit_fences` that says how far this process has written. Each batch moves it by one, and only from where it
 * must stand; so its place tells whether a batch was applied, and moving it on makes sure that it will not be.
 */
export interface Fence {
  /** Makes the row; drops those of writers that have not written for so long. May be done twice. */
  open(keepMs: number): Statement[];
  /**
   * The first statement of a batch: breaks a rule, and the batch with it, when the fence is somewhere else, or when the
   * server would not keep this very commit through a power cut.
   */
  pass(): Statement;
  /** The batch was applied. */
  passed(): void;
  /**
   * After a batch of which it is not known: the first statement reads its place, and whether commits are durable. May be
   * done twice.
   */
  moveOn(): Statement[];
  /**
   * The fence was moved on.
   *
   * @param place the row that the first statement of `moveOn` gave
   * @returns `gone back`: the database does not have any more what it had confirmed
   */
  movedOn(place: Row | undefined): "applied" | "not applied" | "gone back";
}

// The database's clock: a node whose own is wrong must not take the rows of those that live for old ones.
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
// `seq` may not be null: that is how a batch that comes too late fails.
const pass = (
  seq: string,
): string => `INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?1, ${seq}, 0, ${NOW})
ON CONFLICT (writer) DO UPDATE SET seq = CASE WHEN seq = ?3 THEN excluded.seq END, at = excluded.at`;
// A database of an earlier time may have no such row.
const IS_THERE = "EXISTS (SELECT 1 FROM commit_fences WHERE writer = ?1)";
const PASS = pass(`CASE WHEN ${IS_THERE} THEN ?2 END`);
const PASS_DURABLY = pass(`CASE WHEN ${IS_THERE} AND ${IS_DURABLE} THEN ?2 END`);
// One row, also for a writer that has none.
const PLACE = "SELECT seq, before_seq FROM (SELECT 1) LEFT JOIN commit_fences ON writer = ?";
const PLACE_AND_DURABLE = PLACE.replace("before_seq", `before_seq, ${IS_DURABLE} AS durable`);
// Never back: a question of an earlier outage that comes late must not let in a batch that came late as well.
const MOVE_ON = `INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?1, ?2, 0, ${NOW})
ON CONFLICT (writer) DO UPDATE SET before_seq = seq, seq = excluded.seq, at = excluded.at WHERE seq < excluded.seq`;

/**
 * @param writer  of this process alone
 * @param durably each batch demands that its commit is durable
 */
export function createFence(writer: string, durably: boolean): Fence {
  /** Where the fence stands, as far as is known. */
  let seq = 0;
  return {
    open: (keepMs) => [
      { sql: `DELETE FROM commit_fences WHERE at < ${NOW} - ?`, args: [keepMs] },
      {
        sql: `INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?, 0, 0, ${NOW}) ON CONFLICT (writer) DO NOTHING`,
        args: [writer],
      },
    ],
    pass: () => ({ sql: durably ? PASS_DURABLY : PASS, args: [writer, seq + 1, seq] }),
    passed: () => void seq++,
    moveOn: () => [
      { sql: durably ? PLACE_AND_DURABLE : PLACE, args: [writer] },
      { sql: MOVE_ON, args: [writer, seq + 2] },
    ],
    movedOn(place) {
      const found = Number(place?.seq ?? -1);
      // An earlier question got through, and only its answer was lost.
      const stood = found === seq + 2 ? Number(place!.before_seq) : found;
      const confirmed = seq;
      seq += 2;
      if (stood < confirmed) return "gone back";
      return stood === confirmed + 1 ? "applied" : "not applied";
    },
  };
}
