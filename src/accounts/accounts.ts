import { randomUUID } from "node:crypto";
import { accounts, apiKeys, devices } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import { giveWay } from "../model/give-way.ts";
import type { Page, PageWanted } from "../model/page.ts";
import { eraseRecord } from "../store/erase.ts";
import { definePages, ROWS_OF_PAGE } from "../store/pages.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { AccountRecord } from "./account-record.ts";
import { eraseAuditOf } from "./audit-log.ts";
import { prepareKey, type ApiKeys } from "./api-keys.ts";
import { limitOf, readUsage, type Usage } from "./plans.ts";
import { operatorKeyId } from "./operator-caller.ts";
import { createQuotas, type Quotas } from "./quotas.ts";
import { createSendCounts, SETTLED_BETWEEN_NODES_MS } from "./send-counts.ts";
import { createSharedQuotas } from "./shared-quotas.ts";

/** Customers of the gateway: each has its own keys, numbers and limits. Only the operator may change them. */
export interface Accounts {
  /** Makes the account and, in the same commit, its first key with every permission. */
  create(account: { name: string; plan: string }): Promise<{ account: AccountRecord; apiKey: string }>;
  /** Newest first. */
  list(wanted: PageWanted): Promise<Page<AccountRecord>>;
  get(id: string): Promise<AccountRecord | null>;
  /** What is not given stays. Null when there is no such account. */
  update(
    id: string,
    change: { name?: string; plan?: string; enabled?: boolean },
  ): Promise<AccountRecord | null>;
  /** Logs its numbers out and erases everything that is the account's. False when there is none. */
  remove(id: string): Promise<boolean>;
  /** @throws NOT_FOUND */
  usage(id: string): Promise<Usage>;
  takeSends: Quotas["take"];
  /** How many numbers the account may have; null is no limit. @throws NOT_FOUND */
  deviceLimit(id: string): Promise<number | null>;
}

/** What removing an account asks of the numbers: end the link and the connection, so that nothing is written anew. */
export interface NumbersOfAccount {
  list(accountId: string): { id: number }[] | Promise<{ id: number }[]>;
  remove(deviceId: number): Promise<void>;
}

const ANSWERS_AT_ONCE = 200;

const ACCOUNT = {
  id: accounts.id,
  name: accounts.name,
  plan: accounts.plan,
  enabled: accounts.enabled,
  createdAt: accounts.createdAt,
};
const GET = defineQuery("SELECT id, name, plan, enabled, created_at FROM accounts WHERE id = ?", ACCOUNT);
const PAGES = definePages("accounts", "TRUE", 0);
const ROWS = defineQuery(`SELECT id, name, plan, enabled, created_at FROM accounts ${ROWS_OF_PAGE}`, ACCOUNT);
const KEYS_OF = defineQuery("SELECT id FROM api_keys WHERE account_id = ?", { id: apiKeys.id });
const DEVICES_OF = defineQuery("SELECT id FROM devices WHERE account_id = ?", { id: devices.id });

interface AccountsDeps {
  store: Store;
  config: Pick<Config, "plans">;
  keys: ApiKeys;
  numbers: NumbersOfAccount;
  /** Other nodes take out of the same plans. Default: there are none. */
  shared?: boolean;
}

/** Accounts in the database; their keys and numbers are made and removed through `keys` and `numbers`. */
export function createAccounts(deps: AccountsDeps): Accounts {
  const { store, config, keys, numbers, shared = false } = deps;
  const counts = createSendCounts(store, shared ? SETTLED_BETWEEN_NODES_MS : undefined);
  const quotas = (shared ? createSharedQuotas : createQuotas)(store, config, counts);
  const get = (id: string): Promise<AccountRecord | null> => store.readOne(GET, [id]);

  return {
    get,

    async create({ name, plan }) {
      const account: AccountRecord = { id: randomUUID(), name, plan, enabled: true, createdAt: store.now() };
      const first = {
        name: "First key",
        permissions: ["*"],
        devices: null,
        recipients: null,
        expiresAt: null,
      };
      const { apiKey, statement } = prepareKey(store, account.id, first, null);
      await store.writer.commit([insertAccount(account), statement]);
      return { account, apiKey };
    },

    async list(wanted) {
      const { rowids, ...page } = await PAGES.find(store, [], wanted);
      return { ...page, items: await store.read(ROWS, [rowids]) };
    },

    async update(id, { name, plan, enabled }) {
      await store.writer.commit([
        {
          sql: `UPDATE accounts SET name = coalesce(?, name), plan = coalesce(?, plan), enabled = coalesce(?, enabled)
            WHERE id = ?`,
          args: [name ?? null, plan ?? null, enabled ?? null, id],
        },
      ]);
      keys.forget();
      return get(id);
    },

    async remove(id) {
      if ((await get(id)) === null) return false;
      const removed = await store.read(KEYS_OF, [id]);
      // First the keys, so that nobody starts anything while the numbers log out.
      await store.writer.commit([{ sql: "DELETE FROM api_keys WHERE account_id = ?", args: [id] }]);
      keys.forget();
      for (const keyId of [...removed.map((key) => key.id), operatorKeyId(id)])
        await eraseAnswers(store, keyId);
      await eraseAuditOf(store, id);
      for (const device of await numbers.list(id)) await numbers.remove(device.id);
      await store.writer.commit(await eraseAccount(store, id), { owning: null });
      return true;
    },

    usage: (id) => readUsage(store, config, counts, id),
    takeSends: quotas.take,
    deviceLimit: (id) => limitOf(store, config, id, "devices"),
  };
}

function insertAccount({ id, name, plan, enabled, createdAt }: AccountRecord): Statement {
  return {
    sql: "INSERT INTO accounts (id, name, plan, enabled, created_at) VALUES (?, ?, ?, ?, ?)",
    args: [id, name, plan, enabled, createdAt],
  };
}

/** First answers to requests with an idempotency key. */
async function eraseAnswers({ writer }: Pick<Store, "writer">, keyId: string): Promise<void> {
  const sql = `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency WHERE key_id = ? LIMIT ${ANSWERS_AT_ONCE})`;
  for (let deleted = ANSWERS_AT_ONCE; deleted === ANSWERS_AT_ONCE; await giveWay())
    deleted = (await writer.commit([{ sql, args: [keyId] }]))[0]!.rowsAffected;
}

/** The numbers' own removal comes first; this is what makes sure that no row is left whatever became of it. */
async function eraseAccount(store: Store, id: string): Promise<Statement[]> {
  const left = await store.read(DEVICES_OF, [id]);
  return [
    ...left.flatMap((device) => eraseRecord(device.id, store.now())),
    { sql: "DELETE FROM api_keys WHERE account_id = ?", args: [id] },
    { sql: "DELETE FROM send_counts WHERE account_id = ?", args: [id] },
    { sql: "DELETE FROM links WHERE account_id = ?", args: [id] },
    { sql: "DELETE FROM sessions WHERE account_id = ? AND kind <> 'operator'", args: [id] },
    { sql: "DELETE FROM accounts WHERE id = ?", args: [id] },
  ];
}
