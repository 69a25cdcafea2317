import type { Row } from "@libsql/client";
import type { Time } from "../../model/time.ts";
import type { Statement } from "../store.ts";

/**
 * A row of `commit_fences` that says how far this process has written. Each batch moves it by one, and only from where it
 * must stand; so its place tells whether a batch was applied, and moving it on makes sure that it will not be.
 */
export interface Fence {
  /** Makes the row; drops those of writers that have not written for so long. May be done twice. */
  open(keepMs: number): Statement[];
  /** The first statement of a batch: breaks a rule, and the batch with it, when the fence is somewhere else. */
  pass(): Statement;
  /** The batch was applied. */
  passed(): void;
  /** After a batch of which it is not known: the first statement reads its place. May be done twice. */
  moveOn(): Statement[];
  /**
   * The fence was moved on.
   *
   * @param place the row that the first statement of `moveOn` gave
   * @returns whether the batch was applied
   */
  movedOn(place: Row | undefined): boolean;
}

// `seq` may not be null: that is how a batch that comes too late fails.
const PASS = `INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?1, ?2, 0, ?4)
ON CONFLICT (writer) DO UPDATE SET seq = CASE WHEN seq = ?3 THEN excluded.seq END, at = excluded.at`;
const PLACE = "SELECT seq, before_seq FROM commit_fences WHERE writer = ?";
const MOVE_ON = `INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?1, ?2, 0, ?3)
ON CONFLICT (writer) DO UPDATE SET before_seq = seq, seq = excluded.seq, at = excluded.at WHERE seq <> excluded.seq`;

/** @param writer of this process alone */
export function createFence(writer: string, time: Pick<Time, "now">): Fence {
  /** Where the fence stands, as far as is known. */
  let seq = 0;
  return {
    open: (keepMs) => [
      { sql: "DELETE FROM commit_fences WHERE at < ?", args: [time.now() - keepMs] },
      {
        sql: "INSERT INTO commit_fences (writer, seq, before_seq, at) VALUES (?, 0, 0, ?) ON CONFLICT (writer) DO NOTHING",
        args: [writer, time.now()],
      },
    ],
    pass: () => ({ sql: PASS, args: [writer, seq + 1, seq, time.now()] }),
    passed: () => void seq++,
    moveOn: () => [
      { sql: PLACE, args: [writer] },
      { sql: MOVE_ON, args: [writer, seq + 2, time.now()] },
    ],
    movedOn(place) {
      const found = Number(place?.seq ?? 0);
      // An earlier question got through, and only its answer was lost.
      const stood = found === seq + 2 ? Number(place!.before_seq) : found;
      const applied = stood === seq + 1;
      seq += 2;
      return applied;
    },
  };
}
