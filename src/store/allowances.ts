import { integer, defineQuery, nullable } from "./query.ts";
import type { Statement, Store } from "./store.ts";

/** What a number does only so often. */
export type AllowanceKind = "checks" | "groups" | "members" | "joins" | "profile" | "first_contacts";

/** How much of it. */
export interface Allowance {
  kind: AllowanceKind;
  most: number;
  /** Uses after this time count, Unix milliseconds. */
  since: number;
}

/** What a number has used, kept over restarts, whoever has the number. */
export interface Allowances {
  /** @returns false when it would be more than is left: nothing is taken. @throws StorageUnavailable */
  take(deviceId: number, allowance: Allowance, count?: number): Promise<boolean>;
  /**
   * When so much of what was used is so old that there is room again.
   *
   * @returns when the use that is in the way was made, Unix milliseconds; null: none is
   */
  inTheWay(deviceId: number, allowance: Allowance, count?: number): Promise<number | null>;
  used(deviceId: number, allowance: Pick<Allowance, "kind" | "since">): Promise<number>;
}

const SINCE = "FROM allowance_uses WHERE device_id = ?1 AND kind = ?2 AND used_at > ?3";
// Looked at and counted in one commit: two requests at once cannot both take what is left for one.
const TAKE = `INSERT INTO allowance_uses (device_id, kind, used_at, used) SELECT ?1, ?2, ?4, ?5
  WHERE (SELECT coalesce(sum(used), 0) ${SINCE}) + ?5 <= ?6`;
const IN_THE_WAY = defineQuery(
  `SELECT min(used_at) AS at FROM
  (SELECT used_at, sum(used) OVER (ORDER BY used_at DESC, id DESC) AS after ${SINCE}) WHERE after > ?4`,
  { at: nullable(integer()) },
);
const USED = defineQuery(`SELECT coalesce(sum(used), 0) AS used ${SINCE}`, { used: integer() });

/** Each allowance has few rows: one for each use, and uses are what is limited. */
export function createAllowances(store: Pick<Store, "readOne" | "writer" | "now">): Allowances {
  return {
    async take(deviceId, { kind, most, since }, count = 1) {
      const take: Statement = { sql: TAKE, args: [deviceId, kind, since, store.now(), count, most] };
      const [taken] = await store.writer.commit([take], { owning: deviceId });
      return taken!.rowsAffected > 0;
    },
    async inTheWay(deviceId, { kind, most, since }, count = 1) {
      return (await store.readOne(IN_THE_WAY, [deviceId, kind, since, most - count]))?.at ?? null;
    },
    used: async (deviceId, { kind, since }) => (await store.readOne(USED, [deviceId, kind, since]))!.used,
  };
}
