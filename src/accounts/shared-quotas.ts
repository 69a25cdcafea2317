import { sendCounts } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import { SECOND_MS } from "../model/time.ts";
import { ConstraintViolation } from "../store/errors.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { dailyLimit } from "./plans.ts";
import { exceeded, type Quotas, type SendShare } from "./quotas.ts";
import type { SendCounts } from "./send-counts.ts";

const TODAY = "unixepoch() / 86400";
const COUNTED = defineQuery(
  `SELECT ${TODAY} AS day, 86400 - unixepoch() % 86400 AS secondsLeft,
  (SELECT sends FROM send_counts WHERE account_id = ? AND day = ${TODAY}) AS sends`,
  { day: sendCounts.day, secondsLeft: integer(), sends: nullable(sendCounts.sends) },
);
// What is stored between counting and this commit is counted by it.
const BEGIN = `INSERT INTO send_counts (account_id, day, sends)
  SELECT ?1, ${TODAY}, ?2 + (SELECT count(*) FROM devices d JOIN outbox o ON o.device_id = d.id
    WHERE d.account_id = ?1 AND o.origin = 'api' AND o.created_at >= ?3)
  WHERE TRUE ON CONFLICT (account_id, day) DO NOTHING`;
const FORGET = `DELETE FROM send_counts WHERE account_id = ? AND day < ${TODAY}`;
// Beyond the limit there is no number that the column takes.
const TAKE = `INSERT INTO send_counts (account_id, day, sends) VALUES (?, ${TODAY}, ?)
  ON CONFLICT (account_id, day) DO UPDATE
  SET sends = CASE WHEN sends + excluded.sends <= ? THEN sends + excluded.sends END`;
// An account without a limit has a row only if it had one today: nobody counts what nobody limits.
const COUNT = `UPDATE send_counts SET sends = sends + ? WHERE account_id = ? AND day = ${TODAY}`;
// `changes()` is how many the statement before has deleted: what was never stored was never counted.
const TAKE_BACK = "UPDATE send_counts SET sends = max(0, sends - changes()) WHERE account_id = ? AND day = ?";

/**
 * The sends of today per account as several nodes count them: in a row that changes in the commit that stores the messages.
 * The day is that of the database's clock.
 *
 * @param counts what was stored before the account was counted today
 */
export function createSharedQuotas(
  store: Pick<Store, "readOne" | "writer">,
  config: Pick<Config, "plans">,
  counts: Pick<SendCounts, "settled">,
): Quotas {
  async function counted(accountId: string) {
    const row = (await store.readOne(COUNTED, [accountId]))!;
    if (row.sends !== null) return { ...row, sends: row.sends };
    const { sends, until } = await counts.settled(accountId);
    await store.writer.commit([
      { sql: FORGET, args: [accountId] },
      { sql: BEGIN, args: [accountId, sends, until] },
    ]);
    const begun = (await store.readOne(COUNTED, [accountId]))!;
    return { ...begun, sends: begun.sends ?? 0 };
  }

  function shareOf(accountId: string, limit: number | null, day: number): SendShare {
    let asked = 0;
    const left = async (): Promise<number> => Math.max(0, (limit ?? 0) - (await counted(accountId)).sends);
    return {
      limit,
      remaining: left,
      // Nothing is taken before it is stored.
      giveBack: () => undefined,
      storing(count): Statement[] {
        asked = count;
        return limit === null
          ? [{ sql: COUNT, args: [count, accountId] }]
          : [{ sql: TAKE, args: [accountId, count, limit] }];
      },
      takingBack: () => [{ sql: TAKE_BACK, args: [accountId, day] }],
      async explain(error) {
        if (!(error instanceof ConstraintViolation) || limit === null) return error;
        const { sends, secondsLeft } = await counted(accountId);
        return sends + asked > limit
          ? exceeded(limit, Math.max(0, limit - sends), secondsLeft * SECOND_MS)
          : error;
      },
    };
  }

  return {
    async take(accountId, wanted) {
      const limit = await dailyLimit(store, config, accountId);
      if (limit === null) return shareOf(accountId, null, 0);
      const { day, sends, secondsLeft } = await counted(accountId);
      // Whoever comes too late is refused before files are fetched; who comes at the same time by the commit.
      if (sends + wanted > limit) throw exceeded(limit, Math.max(0, limit - sends), secondsLeft * SECOND_MS);
      return shareOf(accountId, limit, day);
    },
  };
}
