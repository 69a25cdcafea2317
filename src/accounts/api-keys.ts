import { randomUUID } from "node:crypto";
import { accounts, apiKeys } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import { alone } from "../model/nodes/alone.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import type { Page, PageWanted } from "../model/page.ts";
import { SECOND_MS } from "../model/time.ts";
import { definePages, ROWS_OF_PAGE } from "../store/pages.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { requireMayGrant } from "./authorize.ts";
import type { Caller, Grants } from "./caller.ts";
import { isWellFormed, makeKey, shownPrefix } from "./key-format.ts";
import { limitOf, planLimit } from "./plans.ts";
import { createLru } from "../model/lru.ts";

/** A key as it is listed: without its secret, which is stored only as a hash. */
export interface KeyRecord extends Grants {
  id: string;
  name: string;
  /** Milliseconds; null: for ever. */
  expiresAt: number | null;
  createdAt: number;
  /** Accurate to a minute. */
  lastUsedAt: number | null;
  prefix: string;
}

/** What a key shall be called, what it may do, and until when: milliseconds since 1970, null for ever. */
export interface NewKey extends Grants {
  name: string;
  expiresAt: number | null;
}

/** A key's record, and the key itself for the only time that it is known. */
export interface IssuedKey {
  key: KeyRecord;
  apiKey: string;
}

/** API keys of all accounts: who asks, and which keys there are. */
export interface ApiKeys {
  /**
   * Null when malformed, unknown, deleted or expired. The key of a disabled account is a caller all the same: the account
   * says so. Known keys are answered from memory; a change made by this process counts at once, one by another node as soon
   * as the bus has brought it, and after five seconds at the latest.
   */
  authenticate(key: string): Promise<Caller | null>;
  /** The same for whoever once had the key and was let in by it. @param hash of {@link ApiKeys.hashOf} */
  withHash(hash: string): Promise<Caller | null>;
  /** What stands in the table instead of the key; another secret of the same key has another one. */
  hashOf(key: string): string;
  /**
   * @param by the key that asks; null for the operator
   * @throws PLAN_LIMIT; PERMISSION_DENIED when the new key could do more than the one that asks
   */
  issue(accountId: string, key: NewKey, by: Caller | null): Promise<IssuedKey>;
  /** Newest first. */
  list(accountId: string, wanted: PageWanted): Promise<Page<KeyRecord>>;
  /** False when the account has no such key. @throws PERMISSION_DENIED as `issue` */
  remove(accountId: string, id: string, by: Caller | null): Promise<boolean>;
  /** The old secret ends at once. Null when the account has no such key. @throws PERMISSION_DENIED as `issue` */
  rotate(accountId: string, id: string, by: Caller | null): Promise<IssuedKey | null>;
  /** Forgets what is known by heart; whoever changes an account calls it after the commit. */
  forget(): void;
}

interface Known {
  caller: Caller;
  expiresAt: number | null;
  /** When `last_used_at` was last written. */
  noted: number;
  /** When it was read, as `Time.monotonic`. */
  readAt: number;
}

const MAX_KNOWN = 10_000;
/** Among several nodes: what another one has changed while the bus was away. */
const KNOWN_FOR_MS = 5 * SECOND_MS;
/** Keys or accounts are others now. */
const KEYS = defineTopic<null>("keys");
const NOTE_USE_EVERY_MS = 60_000;

const GRANTS = { permissions: apiKeys.permissions, devices: apiKeys.devices, recipients: apiKeys.recipients };
const FIND = defineQuery(
  `SELECT k.id, k.name AS keyName, k.account_id, k.permissions, k.devices, k.recipients, k.expires_at, k.last_used_at,
  a.name, a.plan, a.enabled, a.created_at FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ?`,
  {
    ...GRANTS,
    keyId: apiKeys.id,
    keyName: apiKeys.name,
    accountId: apiKeys.accountId,
    expiresAt: apiKeys.expiresAt,
    lastUsedAt: apiKeys.lastUsedAt,
    name: accounts.name,
    plan: accounts.plan,
    enabled: accounts.enabled,
    createdAt: accounts.createdAt,
  },
);
const RECORD = {
  ...GRANTS,
  id: apiKeys.id,
  name: apiKeys.name,
  prefix: apiKeys.prefix,
  expiresAt: apiKeys.expiresAt,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
};
const SELECT =
  "SELECT id, name, prefix, permissions, devices, recipients, expires_at, created_at, last_used_at FROM api_keys";
// A key may name a thousand numbers and a thousand recipients.
const PAGES = definePages(
  "api_keys",
  "account_id = ?1",
  1,
  "octet_length(coalesce(devices, '')) + octet_length(coalesce(recipients, ''))",
);
const ROWS = defineQuery(`${SELECT} ${ROWS_OF_PAGE}`, RECORD);
const ONE = defineQuery(`${SELECT} WHERE account_id = ? AND id = ?`, RECORD);

const DELETE = "DELETE FROM api_keys WHERE account_id = ? AND id = ?";
const ROTATE = "UPDATE api_keys SET hash = ?, prefix = ? WHERE account_id = ? AND id = ?";
const NOTE_USE = "UPDATE api_keys SET last_used_at = ? WHERE id = ?";

/** API keys of all accounts. Only the HMAC of a key is stored: 178 random bits need no slow hash. */
export function createApiKeys(
  store: Store,
  config: Pick<Config, "plans">,
  { node, bus }: Pick<Cluster, "node" | "bus"> = alone(),
): ApiKeys {
  const known = createLru<string, Known>(MAX_KNOWN);
  // Counts changes: what was read before a change must not be remembered after it.
  let changes = 0;
  const hashOf = (key: string): string => store.box.hmac("api-key", key).toString("hex");

  async function lookUp(hash: string): Promise<Known | null> {
    const before = changes;
    const found = await readKnown(store, hash);
    if (found !== null && before === changes) known.set(hash, found);
    return found;
  }

  const isFresh = ({ readAt }: Known): boolean =>
    node === null || store.time.monotonic() - readAt < KNOWN_FOR_MS;

  async function withHash(hash: string): Promise<Caller | null> {
    const recalled = known.get(hash);
    const entry = recalled !== undefined && isFresh(recalled) ? recalled : await lookUp(hash);
    if (entry === null || isOver(entry.expiresAt, store.now())) return null;
    noteUse(store, entry);
    return entry.caller;
  }

  function drop(): void {
    changes++;
    known.clear();
  }
  bus.listen(KEYS, drop);
  bus.onGap(drop);

  function forget(): void {
    drop();
    bus.tell(KEYS, null);
  }

  return {
    forget,
    hashOf,
    withHash,
    authenticate: async (key) => (isWellFormed(key) ? withHash(hashOf(key)) : null),

    async issue(accountId, wanted, by) {
      if (by !== null) requireMayGrant(by, wanted);
      const limit = await limitOf(store, config, accountId, "keys");
      const made = prepareKey(store, accountId, wanted, limit);
      const [result] = await store.writer.commit([made.statement]);
      if (result!.rowsAffected === 0) throw planLimit("keys", limit ?? 0);
      return { key: made.key, apiKey: made.apiKey };
    },
    async list(accountId, wanted) {
      const { rowids, ...page } = await PAGES.find(store, [accountId], wanted);
      return { ...page, items: await store.read(ROWS, [rowids]) };
    },
    async remove(accountId, id, by) {
      const key = by === null ? null : await store.readOne(ONE, [accountId, id]);
      if (by !== null && key !== null) requireMayGrant(by, key);
      const [result] = await store.writer.commit([{ sql: DELETE, args: [accountId, id] }]);
      forget();
      return result!.rowsAffected > 0;
    },
    async rotate(accountId, id, by) {
      const key = await store.readOne(ONE, [accountId, id]);
      if (key === null) return null;
      if (by !== null) requireMayGrant(by, key);
      const apiKey = makeKey();
      const prefix = shownPrefix(apiKey);
      const changed = { sql: ROTATE, args: [hashOf(apiKey), prefix, accountId, id] };
      const [result] = await store.writer.commit([changed]);
      forget();
      return result!.rowsAffected === 0 ? null : { key: { ...key, prefix }, apiKey };
    },
  };
}

async function readKnown(store: Pick<Store, "readOne" | "time">, hash: string): Promise<Known | null> {
  const readAt = store.time.monotonic();
  const row = await store.readOne(FIND, [hash]);
  if (row === null) return null;
  const { keyId, keyName, accountId, permissions, devices, recipients, name, plan, enabled, createdAt } = row;
  const account = { id: accountId, name, plan, enabled, createdAt };
  const caller = { permissions, devices, recipients, accountId, keyId, keyName, account };
  return { caller, expiresAt: row.expiresAt, noted: row.lastUsedAt ?? 0, readAt };
}

function noteUse({ writer, now }: Pick<Store, "writer" | "now">, entry: Known): void {
  if (now() - entry.noted < NOTE_USE_EVERY_MS) return;
  entry.noted = now();
  // Nobody waits for it, and a disk that is full is reported by those who must write.
  writer.commit([{ sql: NOTE_USE, args: [entry.noted, entry.caller.keyId] }]).catch(() => undefined);
}

/**
 * A new key and the statement that stores it, for whoever commits it together with something else.
 *
 * @param limit most keys that the account may have; beyond it the statement inserts nothing. The count is made by the
 *   statement itself, because two requests at once would both find room. null: no limit
 */
export function prepareKey(
  store: Store,
  accountId: string,
  wanted: NewKey,
  limit: number | null,
): IssuedKey & { statement: Statement } {
  const apiKey = makeKey();
  const key: KeyRecord = {
    ...wanted,
    id: randomUUID(),
    prefix: shownPrefix(apiKey),
    createdAt: store.now(),
    lastUsedAt: null,
  };
  const hash = store.box.hmac("api-key", apiKey).toString("hex");
  return { key, apiKey, statement: insertKey(key, accountId, hash, limit) };
}

function insertKey(key: KeyRecord, accountId: string, hash: string, limit: number | null): Statement {
  return {
    sql: `INSERT INTO api_keys (id, account_id, name, hash, prefix, permissions, devices, recipients, expires_at, created_at)
      SELECT ?, a.id, ?, ?, ?, ?, ?, ?, ?, ? FROM accounts a
      WHERE a.id = ? AND (SELECT count(*) FROM api_keys WHERE account_id = a.id) < ?`,
    args: [
      key.id,
      key.name,
      hash,
      key.prefix,
      JSON.stringify(key.permissions),
      key.devices && JSON.stringify(key.devices),
      key.recipients && JSON.stringify(key.recipients),
      key.expiresAt,
      key.createdAt,
      accountId,
      limit ?? Number.MAX_SAFE_INTEGER,
    ],
  };
}

function isOver(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
