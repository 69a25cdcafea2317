import { groupLists } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { GroupRecord } from "./group-record.ts";

/** A list of groups as WhatsApp gave it. */
export interface StoredList {
  groups: GroupRecord[];
  /** Unix milliseconds. */
  fetchedAt: number;
}

/** Lists of groups: the cache for a minute, the database for as long as nothing better is known. */
export interface StoredLists {
  read(deviceId: number): Promise<StoredList | null>;
  write(deviceId: number, list: StoredList): Promise<void>;
}

const LIST = defineQuery("SELECT value FROM group_lists WHERE device_id = ?", { value: groupLists.value });
const SAVE = `INSERT INTO group_lists (device_id, value, fetched_at) VALUES (?, ?, ?)
ON CONFLICT (device_id) DO UPDATE SET value = excluded.value, fetched_at = excluded.fetched_at`;

/** @param cacheSeconds how long the cache in front of the database keeps a list */
export function createStoredLists(store: Store, cacheSeconds: number): StoredLists {
  const { box, cache } = store;
  const open = (deviceId: number, sealed: Uint8Array): StoredList =>
    box.openJson<StoredList>(sealed, `group_lists:${deviceId}`);

  async function readCache(deviceId: number): Promise<StoredList | null> {
    try {
      const sealed = await cache.getItem<string>(keyOf(deviceId));
      return sealed === null ? null : open(deviceId, Buffer.from(sealed, "base64"));
    } catch {
      // A cache that is away or damaged is a cache that has nothing.
      return null;
    }
  }

  return {
    async read(deviceId) {
      const cached = await readCache(deviceId);
      if (cached !== null) return cached;
      const row = await store.readOne(LIST, [deviceId]);
      return row && open(deviceId, row.value);
    },

    async write(deviceId, list) {
      // Sealed in the cache as well: it may be a Redis that others read.
      const sealed = box.sealJson(list, `group_lists:${deviceId}`);
      await store.writer.commit([{ sql: SAVE, args: [deviceId, sealed, list.fetchedAt] }]);
      await cache
        .setItem(keyOf(deviceId), sealed.toString("base64"), { ttl: cacheSeconds })
        .catch(() => cache.removeItem(keyOf(deviceId)).catch(() => undefined));
    },
  };
}

function keyOf(deviceId: number): string {
  return `groups:${deviceId}`;
}
