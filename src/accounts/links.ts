import { randomUUID } from "node:crypto";
import { apiKeys, devices, links } from "../../drizzle/schema.ts";
import type { Page, PageWanted } from "../model/page.ts";
import { MINUTE_MS } from "../model/time.ts";
import { definePages, ROWS_OF_PAGE } from "../store/pages.ts";
import { defineQuery, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { adminTokenHash } from "./admin-token.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller, Permission } from "./caller.ts";
import { isToken, makeToken } from "./session-token.ts";

/** What a link lets do with its number, and nothing else of the account. */
export const LINK_PERMISSIONS: Permission[] = ["qr", "webhooks"];

/** A link as it is listed: without its secret, which is stored only as a hash. Times are Unix milliseconds. */
export interface LinkRecord {
  id: string;
  /** Digits. */
  number: string;
  createdAt: number;
  expiresAt: number;
  /** When the link was last opened; null: nobody has. */
  lastUsedAt: number | null;
  madeBy: Maker["kind"];
  /** Name of the key that made it; null: the operator did, or that key has ended, and the link with it. */
  keyName: string | null;
}

/** The number that a link is for. */
export interface LinkedNumber {
  /** Of the record. */
  id: number;
  accountId: string;
  number: string;
}

/** Who makes a link: it ends with the key, or the operator's token, of this hash. */
export interface Maker {
  kind: "key" | "operator";
  credential: string;
}

/** Links with which a customer links one number and sets its webhook. */
export interface Links {
  make(device: LinkedNumber, minutes: number, by: Maker): Promise<{ link: LinkRecord; token: string }>;
  /** Those that can be opened, newest first. @param numbers digits; null: of every number of the account */
  list(accountId: string, numbers: string[] | null, wanted: PageWanted): Promise<Page<LinkRecord>>;
  /** False when there is none. */
  remove(accountId: string, numbers: string[] | null, id: string): Promise<boolean>;
  /**
   * Whoever comes with it; null when it is none, over, or withdrawn, or when the number was linked since it was made. Notes that
   * it was opened.
   */
  open(token: string): Promise<{ hash: string; expiresAt: number; caller: Caller } | null>;
  /**
   * What it lets do now; null when it is over, or what it was made with is. Who has linked the number goes on until then.
   * @param hash of the token
   */
  callerOf(hash: string): Promise<Caller | null>;
}

const LINK = {
  id: links.id,
  number: links.number,
  createdAt: links.createdAt,
  expiresAt: links.expiresAt,
  lastUsedAt: links.lastUsedAt,
  madeBy: links.madeBy,
  keyName: nullable(apiKeys.name),
};
const FIND = defineQuery(
  `SELECT l.id, l.account_id, l.device_id, l.number, l.made_by, l.credential, l.created_at, l.expires_at, d.linked_at AS linkedAt
    FROM links l LEFT JOIN devices d ON d.id = l.device_id WHERE l.hash = ?`,
  {
    id: links.id,
    accountId: links.accountId,
    deviceId: links.deviceId,
    number: links.number,
    madeBy: links.madeBy,
    credential: links.credential,
    createdAt: links.createdAt,
    expiresAt: links.expiresAt,
    linkedAt: nullable(devices.linkedAt),
  },
);
const OF_NUMBERS = "(?2 IS NULL OR number IN (SELECT value FROM json_each(?2)))";
const IS_UNUSED = "coalesce((SELECT d.linked_at FROM devices d WHERE d.id = device_id), 0) < created_at";
const PAGES = definePages(
  "links",
  `account_id = ?1 AND ${OF_NUMBERS} AND expires_at > ?3 AND ${IS_UNUSED}`,
  3,
);
const SELECT = `SELECT id, number, created_at, expires_at, last_used_at, made_by,
  (SELECT k.name FROM api_keys k WHERE k.hash = links.credential) AS keyName FROM links`;
const ROWS = defineQuery(`${SELECT} ${ROWS_OF_PAGE}`, LINK);
const ONE = defineQuery(`${SELECT} WHERE id = ?`, LINK);

interface LinksDeps {
  store: Store;
  keys: Pick<ApiKeys, "withHash">;
  accounts: { get(id: string): Promise<Caller["account"] | null> };
  /** Whether the record is still there, and has this number. */
  isNumber(device: LinkedNumber): boolean;
}

/** Links in the database. What one lets do is asked anew each time: it ends with its number, and with what made it. */
export function createLinks({ store, keys, accounts, isNumber }: LinksDeps): Links {
  const hashOf = (token: string): string => store.box.hmac("link", token).toString("hex");

  async function find(hash: string): Promise<{ expiresAt: number; isUsed: boolean; caller: Caller } | null> {
    const row = await store.readOne(FIND, [hash]);
    if (row === null || row.expiresAt <= store.now()) return null;
    const { id, accountId, deviceId, number, expiresAt } = row;
    if (!isNumber({ id: deviceId, accountId, number })) return null;
    const byOperator = row.madeBy === "operator" && row.credential === adminTokenHash(store);
    const maker = row.madeBy === "key" ? await keys.withHash(row.credential) : null;
    if (!byOperator && maker === null) return null;
    const account = maker?.account ?? (await accounts.get(accountId));
    if (account === null) return null;
    const caller: Caller = {
      permissions: LINK_PERMISSIONS,
      devices: [number],
      recipients: [],
      accountId,
      keyId: id,
      account,
      byLink: true,
    };
    return { expiresAt, isUsed: (row.linkedAt ?? 0) >= row.createdAt, caller };
  }

  return {
    async make({ id: deviceId, accountId, number }, minutes, by) {
      const token = makeToken();
      const createdAt = store.now();
      const id = randomUUID();
      const args = [id, hashOf(token), accountId, deviceId, number, by.kind];
      await store.writer.commit([
        {
          sql: `INSERT INTO links (id, hash, account_id, device_id, number, made_by, credential, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          args: [...args, by.credential, createdAt, createdAt + minutes * MINUTE_MS],
        },
      ]);
      return { link: (await store.readOne(ONE, [id]))!, token };
    },

    async list(accountId, numbers, wanted) {
      const args = [accountId, numbers && JSON.stringify(numbers), store.now()];
      const { rowids, ...page } = await PAGES.find(store, args, wanted);
      return { ...page, items: await store.read(ROWS, [rowids]) };
    },

    async remove(accountId, numbers, id) {
      const [result] = await store.writer.commit([
        {
          sql: `DELETE FROM links WHERE account_id = ?1 AND ${OF_NUMBERS} AND id = ?3`,
          args: [accountId, numbers && JSON.stringify(numbers), id],
        },
      ]);
      return result!.rowsAffected > 0;
    },

    async open(token) {
      if (!isToken(token)) return null;
      const hash = hashOf(token);
      const found = await find(hash);
      if (found === null || found.isUsed) return null;
      await store.writer.commit([
        { sql: "UPDATE links SET last_used_at = ? WHERE hash = ?", args: [store.now(), hash] },
      ]);
      return { hash, expiresAt: found.expiresAt, caller: found.caller };
    },

    callerOf: async (hash) => (await find(hash))?.caller ?? null,
  };
}
