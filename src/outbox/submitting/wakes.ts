import type { ResultSet } from "@libsql/client";
import { sendWakes } from "../../../drizzle/schema.ts";
import { defineTopic, partitionOf } from "../../model/nodes/cluster.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement } from "../../store/store.ts";
import type { Settled } from "./submit.ts";

/** To the owner of a number: another node has stored messages for it. */
export const STORED = defineTopic<{
  deviceId: number;
  waIds: string[];
  /** Row of `send_wakes` that says the same; null: there is none. */
  wake: number | null;
  /** Who waits for the outcomes. */
  node: string;
}>("sends-stored");

/** To a node that waits: what became of messages. */
export const ENDED = defineTopic<{
  deviceId: number;
  waId: string;
  /** Null: its row says it. */
  outcome: Settled | null;
}>("sends-ended");

/** Wake-ups that one look takes. */
export const WAKES_AT_ONCE = 500;

// The owner needs none. Should it lose the number right after, whoever has it next finds the message in its queue.
const INSERT = `INSERT INTO send_wakes (p, device_id) SELECT ?1, ?2
WHERE NOT EXISTS (SELECT 1 FROM leases WHERE p = ?1 AND node = ?3) RETURNING id`;

/** What is left to wake up for, in some partitions. */
export const WAKES = defineQuery(
  `SELECT id, device_id FROM send_wakes WHERE p IN (SELECT value FROM json_each(?))
ORDER BY id LIMIT ${WAKES_AT_ONCE}`,
  { id: sendWakes.id, deviceId: sendWakes.deviceId },
);

/** For the commit that stores messages of a number, by a node that may not have it. */
export const wakeStatement = (deviceId: number, node: string): Statement => ({
  sql: INSERT,
  args: [partitionOf(deviceId), deviceId, node],
});

/** @param result of {@link wakeStatement}; undefined when the answer of its commit was lost @returns the row's id, when it made one */
export function wakeOf(result: ResultSet | undefined): number | null {
  const id = result?.rows[0]?.["id"];
  return id == null ? null : Number(id);
}

/** @param ids some hundreds at most */
export const wakesTaken = (ids: number[]): Statement => ({
  sql: "DELETE FROM send_wakes WHERE id IN (SELECT value FROM json_each(?))",
  args: [JSON.stringify(ids)],
});
