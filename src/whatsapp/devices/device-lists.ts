import type { FullJid, PossiblyExtendedCacheStore } from "@whiskeysockets/baileys";
import { LRUCache } from "lru-cache";
import { DAY_MS, MINUTE_MS } from "../../model/time.ts";
import { createGenerations } from "../generations.ts";

/** One device of a user, as Baileys names it. */
export type Device = Pick<FullJid, "user" | "server"> & { device: number };

/** Of all numbers together: some 100,000 users. What does not fit is asked for again. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What an entry costs beside its texts (measured): map node, places in the lists of the cache, headers. */
const ENTRY_BYTES = 240;
/** `devices` notifications keep the lists right, so that a day does instead of Baileys' five minutes. */
const KEPT_MS = DAY_MS;
/** Somebody without devices may have some soon, and nobody would tell. */
const EMPTY_KEPT_MS = 10 * MINUTE_MS;

/** Which devices users have, for all numbers of this process. */
export interface DeviceLists {
  /** One number's part of it, in the shape that Baileys asks for. Lists are of `Device`, by user. */
  of(deviceId: number): PossiblyExtendedCacheStore;
  /** Forgets what numbers have learned; parts that were given out before are nobody's any more. */
  drop(deviceIds: readonly number[]): void;
}

/** Lists are kept as text (`0@lid,12@lid`), a tenth of what objects take. */
export function createDeviceLists(maxBytes = MAX_BYTES): DeviceLists {
  const lists = new LRUCache<string, string>({
    maxSize: maxBytes,
    sizeCalculation: (text, key) => ENTRY_BYTES + text.length + key.length,
    ttl: KEPT_MS,
  });
  const owners = createGenerations();

  function set(key: string, devices: Device[]): void {
    const text = devices.map(({ device, server }) => `${device}@${server}`).join(",");
    lists.set(key, text, devices.length === 0 ? { ttl: EMPTY_KEPT_MS } : {});
  }

  function get(key: string, user: string): Device[] | undefined {
    const text = lists.get(key);
    if (text === undefined || text === "") return text === "" ? [] : undefined;
    return text.split(",").map((entry) => {
      const at = entry.indexOf("@");
      return { user, device: Number(entry.slice(0, at)), server: entry.slice(at + 1) as Device["server"] };
    });
  }

  return {
    of(deviceId) {
      const owner = owners.current(deviceId);
      const keyOf = (user: string): string => `${owner}:${user}`;
      return {
        get: <T>(user: string) => get(keyOf(user), user) as T | undefined,
        set: (user, devices) => set(keyOf(user), devices as Device[]),
        del: (user) => void lists.delete(keyOf(user)),
        flushAll: () => removeAll(new Set([owner])),
        mget: async <T>(users: string[]) =>
          Object.fromEntries(users.map((user) => [user, get(keyOf(user), user) as T | undefined])),
        mset: (entries) => {
          for (const { key, value } of entries) set(keyOf(key), value as Device[]);
        },
      };
    },
    drop: (deviceIds) => removeAll(owners.end(deviceIds)),
  };

  function removeAll(names: ReadonlySet<string>): void {
    for (const key of lists.keys()) if (names.has(key.slice(0, key.indexOf(":")))) lists.delete(key);
  }
}
