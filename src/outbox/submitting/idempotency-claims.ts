import { randomUUID } from "node:crypto";
import { idempotencyClaims } from "../../../drizzle/schema.ts";
import { MINUTE_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import { DATABASE_NOW } from "../../store/write/lease-fence.ts";
import type { Statement, Store } from "../../store/store.ts";

/** Which requests nodes are at work on, so that no two begin the same one. A place is API key, route and the caller's key. */
export interface Claims {
  /**
   * Takes the place for a request of this node.
   *
   * @returns null when it is taken; else the fingerprint of the request that another node is at work on
   * @throws StorageUnavailable
   */
  take(place: string[], fingerprint: string): Promise<string | null>;
  /** Gives it back: to be committed. */
  release(place: string[]): Statement[];
}

/** Of a process that is alone, and knows by itself what it is at work on. */
export const NO_CLAIMS: Claims = { take: async () => null, release: () => [] };

/** Longer than any request takes: what is left of one whose node lives and could not give its claim back. */
const LONGEST_MS = 5 * MINUTE_MS;
/** Of nodes that have died: each new claim takes some of them away. */
const REMOVED_AT_ONCE = 20;

const PLACE = "key_id = ? AND route = ? AND idem_key = ?";
const REMOVE = `DELETE FROM idempotency_claims WHERE rowid IN
(SELECT rowid FROM idempotency_claims WHERE until <= ${DATABASE_NOW} LIMIT ${REMOVED_AT_ONCE})`;
// A claim lives as long as the process that made it, by the database's clock.
const TAKE = `INSERT INTO idempotency_claims (key_id, route, idem_key, fingerprint, claim, incarnation, until)
VALUES (?, ?, ?, ?, ?, (SELECT incarnation FROM nodes WHERE name = ?), ${DATABASE_NOW} + ${LONGEST_MS})
ON CONFLICT (key_id, route, idem_key) DO UPDATE
SET fingerprint = excluded.fingerprint, claim = excluded.claim, incarnation = excluded.incarnation, until = excluded.until
WHERE idempotency_claims.until <= ${DATABASE_NOW} OR NOT EXISTS
(SELECT 1 FROM nodes WHERE incarnation = idempotency_claims.incarnation AND until > ${DATABASE_NOW})`;
const HOLDER = defineQuery(`SELECT fingerprint, claim FROM idempotency_claims WHERE ${PLACE}`, {
  fingerprint: idempotencyClaims.fingerprint,
  claim: idempotencyClaims.claim,
});

/** @param node whose process makes them */
export function createClaims({ writer, readOne }: Pick<Store, "writer" | "readOne">, node: string): Claims {
  // Of this process: of its own requests it knows by itself which are alike.
  const claim = randomUUID();
  return {
    async take(place, fingerprint) {
      const args = [...place, fingerprint, claim, node];
      await writer.commit(
        [
          { sql: REMOVE, args: [] },
          { sql: TAKE, args },
        ],
        { owning: null },
      );
      // By reading: doing it twice, because the answer was lost, takes nothing from nobody.
      const holder = await readOne(HOLDER, place);
      return holder === null || holder.claim === claim ? null : holder.fingerprint;
    },
    release: (place) => [
      { sql: `DELETE FROM idempotency_claims WHERE ${PLACE} AND claim = ?`, args: [...place, claim] },
    ],
  };
}
