import type { Logger } from "../../log.ts";
import { outbox } from "../../../drizzle/schema.ts";
import { backoffMs } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";

/** Sends whose commit was reported as failed, though a database server may have made it before its answer was lost. */
export interface UncertainSends {
  /**
   * Looks whether the messages of one commit are stored. When that cannot be known now, they are taken back as soon as the
   * database answers, and do not leave meanwhile: their caller is told that nothing was stored.
   *
   * @param undo what else has to be taken back with them
   * @returns true when they are stored and may leave
   */
  areStored(deviceId: number, waIds: string[], undo: Statement[]): Promise<boolean>;
  /** It is being taken back. */
  isTakenBack(waId: string): boolean;
}

const FIND = defineQuery(
  "SELECT wa_id FROM outbox WHERE device_id = ? AND wa_id IN (SELECT value FROM json_each(?))",
  { waId: outbox.waId },
);
const TAKE_BACK = `DELETE FROM outbox WHERE device_id = ? AND wa_id IN (SELECT value FROM json_each(?))
AND state IN ('queued', 'scheduled')`;

/** Settles commits whose answer was lost, by looking for their rows. */
export function createUncertainSends(
  store: Pick<Store, "read" | "writer" | "time">,
  log: Logger,
): UncertainSends {
  const takenBack = new Set<string>();

  async function takeBack(waIds: string[], statements: Statement[], failures = 1): Promise<void> {
    try {
      await store.writer.commit(statements);
      for (const waId of waIds) takenBack.delete(waId);
    } catch (error) {
      log.warn({ err: error, messages: waIds.length }, "could not take back sends yet");
      store.time.after(backoffMs(failures), () => void takeBack(waIds, statements, failures + 1));
    }
  }

  return {
    async areStored(deviceId, waIds, undo) {
      const ids = JSON.stringify(waIds);
      try {
        // One commit: all of them, or none.
        return (await store.read(FIND, [deviceId, ids])).length > 0;
      } catch {
        for (const waId of waIds) takenBack.add(waId);
        void takeBack(waIds, [{ sql: TAKE_BACK, args: [deviceId, ids] }, ...undo]);
        return false;
      }
    },
    isTakenBack: (waId) => takenBack.has(waId),
  };
}
