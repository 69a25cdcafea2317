import { randomUUID } from "node:crypto";
import { webhooks } from "../../../drizzle/schema.ts";
import { SECOND_MS, type Cancel } from "../../model/time.ts";
import { boolean, defineQuery, integer, json, nullable } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { Delivery, DeliveryRow } from "../rows.ts";
import { WAITING } from "./waiting.ts";

/** What several processes that make attempts of the same rows know of one number. */
export interface SharedLook {
  /** By the database's clock, Unix milliseconds. */
  now: number;
  /** Chats in which somebody makes an attempt. */
  busy: string[];
  /** Whether anything is posted to its webhook, as its row has it. */
  active: boolean;
  /** How it has been doing, as its row has it. */
  health: { failures: number; failingSince: number | null; pausedUntil: number | null };
}

/**
 * Attempts that this process makes, so that no other one makes them as well. Claims are rows with a time, by the database's
 * clock: one of a process that is gone is over by itself. What came of an attempt is committed only while its claim is ours.
 */
export interface Claims {
  /** The database's clock, as it was last seen, Unix milliseconds. */
  now(): number;
  look(deviceId: number): Promise<SharedLook>;
  /**
   * @param slots attempts of the number at the same time, by all processes together
   * @param when  `due`: only what may go by the database's clock
   * @returns ids of those that nobody else has, that are as they were read, and in whose chat nobody is
   */
  take(rows: DeliveryRow[], slots: number, when: "due" | "any"): Promise<Set<string>>;
  /** Claims a row in the commit that stores it. */
  claiming(delivery: Pick<Delivery, "id" | "deviceId" | "chat">): Statement;
  /** First in the commit of an outcome: it breaks a rule, and with it that commit, when the claim is ours no more. */
  ending(id: string): Statement[];
  /** Its outcome is stored, or somebody else's to store. */
  ended(id: string): void;
  /** There is no outcome: somebody may make the attempt now. Never rejects. */
  release(id: string): Promise<void>;
  /** Claims last no longer than they would by themselves. */
  stop(): void;
}

interface ClaimsDeps {
  store: Pick<Store, "readOne" | "writer" | "time">;
  /** Name of this process among the others. */
  node: string;
  /** How long a claim outlives its process. */
  leaseMs: number;
}

/** Milliseconds, by the one clock that all processes share. */
export const DATABASE_NOW = "cast(unixepoch('subsec') * 1000 as integer)";
const COLUMNS = "delivery_id, device_id, chat, token, node, until";

const LOOK = defineQuery(
  `select ${DATABASE_NOW} as now,
    (select json_group_array(chat) from delivery_claims where device_id = ?1 and until > ${DATABASE_NOW}) as busy,
    coalesce(w.enabled and w.mode <> 'off', 0) as active, w.failures, w.failing_since, w.paused_until
    from (select 1) left join webhooks w on w.device_id = ?1`,
  {
    now: integer(),
    busy: json<string[]>(),
    active: boolean(),
    failures: nullable(webhooks.failures),
    failingSince: webhooks.failingSince,
    pausedUntil: webhooks.pausedUntil,
  },
);
// As it was read: who has made an attempt since has changed one of both.
const TAKE = `insert into delivery_claims (${COLUMNS})
  select id, device_id, chat, ?2, ?3, ${DATABASE_NOW} + ?4 from deliveries d
    where id = ?1 and ${WAITING} and attempts = ?5 and next_at is ?6 and (?7 or next_at <= ${DATABASE_NOW})
      and (select count(*) from delivery_claims c where c.device_id = d.device_id and c.until > ${DATABASE_NOW}) < ?8
      and not exists (select 1 from delivery_claims c
        where c.device_id = d.device_id and c.chat = d.chat and c.until > ${DATABASE_NOW})
  on conflict (delivery_id) do update set token = excluded.token, node = excluded.node, until = excluded.until
  returning delivery_id`;
const TAKEN = "select delivery_id from delivery_claims where delivery_id = ? and token = ?";
const CLAIMING = `insert into delivery_claims (${COLUMNS}) values (?1, ?2, ?3, ?4, ?5, ${DATABASE_NOW} + ?6)
  on conflict (delivery_id) do update set token = excluded.token, node = excluded.node, until = excluded.until`;
// Without an id it is no row: that breaks the whole commit.
const OURS = `insert into delivery_claims (${COLUMNS}) select null, 0, '', '', '', 0
  where not exists (select 1 from delivery_claims where delivery_id = ? and token = ?)`;
const END = "delete from delivery_claims where delivery_id = ? and token = ?";
const RENEW = `update delivery_claims set until = ${DATABASE_NOW} + ?1
  where delivery_id in (select value from json_each(?2)) and token = ?3 returning delivery_id`;

/** Claims of one run of one process; none yet. */
export function createClaims({ store, node, leaseMs }: ClaimsDeps): Claims {
  const { writer, time } = store;
  const token = randomUUID();
  const held = new Set<string>();
  let stopRenewing: Cancel | null = null;
  /** Of the database's clock before the host's. */
  let aheadMs = 0;

  function hold(id: string): void {
    held.add(id);
    stopRenewing ??= time.every(leaseMs / 3, () => void renew().catch(() => undefined));
  }

  function forget(id: string): void {
    held.delete(id);
    if (held.size > 0) return;
    stopRenewing?.();
    stopRenewing = null;
  }

  /** Those that are not found were never stored, or are somebody else's. */
  async function renew(): Promise<void> {
    const asked = [...held];
    const [result] = await writer.commit([{ sql: RENEW, args: [leaseMs, JSON.stringify(asked), token] }]);
    const found = new Set(result!.rows.map((row) => row["delivery_id"]));
    for (const id of asked) if (!found.has(id)) forget(id);
  }

  function takeOne({ id, attempts, nextAt }: DeliveryRow, slots: number, when: "due" | "any"): Statement {
    const args = [id, token, node, leaseMs, attempts, nextAt, when === "any" ? 1 : 0, slots];
    return { sql: TAKE, args, recover: { sql: TAKEN, args: [id, token] } };
  }

  return {
    now: () => time.now() + aheadMs,

    async look(deviceId) {
      const asked = time.now();
      const { now, busy, active, failures, ...health } = (await store.readOne(LOOK, [deviceId]))!;
      aheadMs = now - (asked + time.now()) / 2;
      return { now, busy, active, health: { ...health, failures: failures ?? 0 } };
    },

    async take(rows, slots, when) {
      if (rows.length === 0) return new Set();
      const asked = time.monotonic();
      const results = await writer.commit(
        rows.map((row) => takeOne(row, slots, when)),
        { owning: null },
      );
      // Too late to be believed: it may be somebody else's already.
      if (time.monotonic() - asked > leaseMs - SECOND_MS) return new Set();
      const ids = rows.flatMap(({ id }, index) => (results[index]!.rows.length > 0 ? [id] : []));
      for (const id of ids) hold(id);
      return new Set(ids);
    },

    claiming({ id, deviceId, chat }) {
      hold(id);
      return { sql: CLAIMING, args: [id, deviceId, chat, token, node, leaseMs] };
    },

    ending: (id) => [
      { sql: OURS, args: [id, token], isGuard: true },
      { sql: END, args: [id, token] },
    ],

    ended: forget,

    async release(id) {
      if (!held.has(id)) return;
      forget(id);
      await writer.commit([{ sql: END, args: [id, token] }]).catch(() => undefined);
    },

    stop() {
      stopRenewing?.();
      stopRenewing = null;
    },
  };
}

const FORGOTTEN_MS = 3_600 * SECOND_MS;
const FORGET = `delete from delivery_claims where rowid in
  (select rowid from delivery_claims where until < ${DATABASE_NOW} - ${FORGOTTEN_MS} order by until limit 200)`;

/** Deletes claims of processes that ended long ago, and of rows that are gone; 200 of them. */
export const forgetOldClaims = (): Statement => ({ sql: FORGET, args: [] });
