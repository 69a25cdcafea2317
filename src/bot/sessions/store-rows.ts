import { randomInt } from "node:crypto";
import { botStore } from "../../../drizzle/schema.ts";
import type { Statement } from "../../model/statement.ts";
import { defineQuery, integer } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { storeContext } from "./sealed-for.ts";
import type { Bot } from "../types.ts";

/** What is kept under a key, as it was read. */
export interface StoredEntry {
  key: string;
  value: unknown;
  /** Of what was read; 0: there was nothing. */
  revision: number;
}

/** Whose store it is; what was written under earlier ids is taken along before anything else. */
type Named = Pick<Bot, "id" | "was">;

/** What one handler has read and wants written. */
export interface StoreChanges {
  /** Revisions by key. */
  read: ReadonlyMap<string, number>;
  /** Null: forgotten. `ttlMs` null: kept as long as the number is. */
  written: ReadonlyMap<string, { value: unknown; ttlMs: number | null } | null>;
}

/** The table `bot_store`. What changes it is a statement for the message's own commit. */
export interface StoreRows {
  /** What is kept under a key; its value is null when there is nothing. */
  stored(deviceId: number, bot: Named, key: string): Promise<StoredEntry>;
  /** @param before the first key that does not belong to them; null: there is none */
  storedFrom(
    deviceId: number,
    bot: Named,
    from: string,
    before: string | null,
    limit: number,
  ): Promise<StoredEntry[]>;
  /** The commit breaks when something that was read is not as it was read. @throws {StoreFull} */
  storeRows(deviceId: number, bot: Named, changes: StoreChanges): Promise<Statement[]>;
}

/** A bot keeps as much on one number as it may. */
export class StoreFull extends Error {
  constructor() {
    super(`ctx.store holds ${MOST_KEYS} keys already. Delete some, or give them a lifetime: { ttl: "2d" }.`);
    this.name = "StoreFull";
  }
}

/** Keys of one bot on one number. */
const MOST_KEYS = 100_000;

const ENTRY = { key: botStore.key, value: botStore.value, revision: botStore.revision };
const ONE = defineQuery(
  `SELECT key, value, revision, coalesce(expires_at <= ?4, 0) AS over FROM bot_store
WHERE device_id = ?1 AND bot_id = ?2 AND key = ?3`,
  { ...ENTRY, over: integer() },
);
const RANGE = defineQuery(
  `SELECT key, value, revision FROM bot_store WHERE device_id = ?1 AND bot_id = ?2 AND key >= ?3 AND key < ?4
AND (expires_at IS NULL OR expires_at > ?5) ORDER BY key LIMIT ?6`,
  ENTRY,
);
const FORMER = defineQuery(
  "SELECT key, value FROM bot_store WHERE device_id = ? AND bot_id = ? AND key > ? ORDER BY key LIMIT 200",
  { key: botStore.key, value: botStore.value },
);
const RENAME = `UPDATE OR IGNORE bot_store SET bot_id = ?, value = ? WHERE device_id = ? AND bot_id = ? AND key = ?`;
const COUNT = defineQuery("SELECT count(*) AS n FROM bot_store WHERE device_id = ? AND bot_id = ?", {
  n: integer(),
});
// Nothing has the revision null: a row that was read and is another one now breaks the whole commit.
const GUARD = `INSERT INTO bot_store (device_id, bot_id, key, value, revision)
SELECT ?1, ?2, '', x'00', NULL FROM json_each(?3) e WHERE coalesce((SELECT revision FROM bot_store
WHERE device_id = ?1 AND bot_id = ?2 AND key = json_extract(e.value, '$[0]')), 0) <> json_extract(e.value, '$[1]') LIMIT 1`;
const PUT = `INSERT INTO bot_store (device_id, bot_id, key, value, revision, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (device_id, bot_id, key) DO UPDATE SET value = excluded.value, revision = excluded.revision,
expires_at = excluded.expires_at`;
const DELETE = "DELETE FROM bot_store WHERE device_id = ? AND bot_id = ? AND key = ?";
/** Behind every text: a blob is greater than any. */
const END = new Uint8Array(0);

/** Reads and writes what bots keep for themselves. */
export function createStoreRows({
  box,
  read,
  readOne,
  writer,
  now,
}: Pick<Store, "box" | "read" | "readOne" | "writer" | "now">): StoreRows {
  const makeRoom = createRoom(readOne);
  const adopted = new Map<string, Promise<void>>();
  function adopt(deviceId: number, { id, was }: Named): Promise<void> | undefined {
    if (was.length === 0) return undefined;
    const which = [deviceId, id, ...was].join("\n");
    const known = adopted.get(which);
    if (known !== undefined) return known;
    const begun = Promise.all(was.map((former) => takeAlong(deviceId, former, id))).then(() => undefined);
    adopted.set(which, begun);
    begun.catch(() => adopted.delete(which));
    return begun;
  }

  async function takeAlong(deviceId: number, former: string, id: string): Promise<void> {
    for (let last = ""; ;) {
      const rows = await read(FORMER, [deviceId, former, last]);
      if (rows.length === 0) return;
      await writer.commit(
        rows.map(({ key, value }) => {
          const sealed = box.sealJson(opened(deviceId, former, key, value), storeContext(deviceId, id, key));
          return { sql: RENAME, args: [id, sealed, deviceId, former, key] };
        }),
        { owning: deviceId },
      );
      last = rows.at(-1)!.key;
    }
  }

  const opened = (deviceId: number, botId: string, key: string, value: Buffer): unknown =>
    box.openJson(value, storeContext(deviceId, botId, key));

  return {
    async stored(deviceId, bot, key) {
      await adopt(deviceId, bot);
      const botId = bot.id;
      const row = await readOne(ONE, [deviceId, botId, key, now()]);
      if (row === null) return { key, value: null, revision: 0 };
      const value = row.over === 1 ? null : opened(deviceId, botId, key, row.value);
      return { key, value, revision: row.revision };
    },

    async storedFrom(deviceId, bot, from, before, limit) {
      await adopt(deviceId, bot);
      const botId = bot.id;
      const rows = await read(RANGE, [deviceId, botId, from, before ?? END, now(), limit]);
      return rows.map(({ key, value, revision }) => ({
        key,
        value: opened(deviceId, botId, key, value),
        revision,
      }));
    },

    async storeRows(deviceId, bot, { read: seen, written }) {
      if (written.size === 0) return [];
      await adopt(deviceId, bot);
      const botId = bot.id;
      const added = [...written].filter(([key, entry]) => entry !== null && !seen.get(key)).length;
      if (added > 0) await makeRoom(deviceId, botId, added);
      const writes = [...written].map(([key, entry]): Statement => {
        if (entry === null) return { sql: DELETE, args: [deviceId, botId, key] };
        const sealed = box.sealJson(entry.value, storeContext(deviceId, botId, key));
        const expiresAt = entry.ttlMs === null ? null : now() + entry.ttlMs;
        return { sql: PUT, args: [deviceId, botId, key, sealed, newRevision(), expiresAt] };
      });
      if (seen.size === 0) return writes;
      return [{ sql: GUARD, args: [deviceId, botId, JSON.stringify([...seen])], isGuard: true }, ...writes];
    },
  };
}

/** @returns counts keys that are added; throws `StoreFull` when there would be too many */
function createRoom(readOne: Store["readOne"]) {
  /** As many keys as a bot had at the last count, and those that were added since: never fewer than there are. */
  const counts = new Map<string, number>();
  return async (deviceId: number, botId: string, added: number): Promise<void> => {
    const bot = `${deviceId}:${botId}`;
    const known = counts.get(bot);
    // What was deleted, and what was written anew unread, is found by counting.
    const count =
      known === undefined || known + added > MOST_KEYS ? (await readOne(COUNT, [deviceId, botId]))!.n : known;
    counts.set(bot, count);
    if (count + added > MOST_KEYS) throw new StoreFull();
    counts.set(bot, count + added);
  };
}

/** By chance: a key that is deleted and written anew must not look as if nothing had happened. */
const newRevision = (): number => randomInt(1, 2 ** 48 - 1);
