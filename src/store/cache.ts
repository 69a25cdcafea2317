import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { createStorage, type Driver, type Storage, type StorageValue } from "unstorage";
import redisDriver from "unstorage/drivers/redis";
import type { Logger } from "../log.ts";
import { createLru } from "../model/lru.ts";
import { createRedisWatch, REDIS_OPTIONS } from "./redis.ts";

const MAX_ENTRIES = 10_000;
const REDIS_ANSWER_MS = 500;

/**
 * unstorage in memory (the 10,000 entries used last), or in Redis when `redisUrl` is given. `ttl` is in seconds. A Redis
 * that is away is a cache that knows nothing: reads miss, writes are forgotten, nothing throws, and nobody waits for it
 * longer than half a second. What was not written by Parley under this key, or not to its end, is a miss as well.
 */
export function createCache(redisUrl: string | null, log: Logger): Storage {
  if (redisUrl === null) return createStorage({ driver: inMemory() });
  return createStorage({ driver: forgiving(checked(redisDriver(connectTo(redisUrl, log)))) });
}

/** unstorage brings a driver for the same LRU cache, but that one keeps entries beyond their `ttl`. */
function inMemory(): Driver {
  const entries = createLru<string, NonNullable<unknown>>(MAX_ENTRIES);
  const set = (key: string, value: NonNullable<unknown>, { ttl }: { ttl?: number }): void => {
    entries.set(key, value, { ttl: ttl === undefined ? 0 : ttl * 1_000 });
  };
  return {
    name: "memory",
    hasItem: (key) => entries.has(key),
    getItem: (key) => (entries.get(key) ?? null) as StorageValue,
    getItemRaw: (key) => entries.get(key) ?? null,
    setItem: set,
    setItemRaw: set,
    removeItem: (key) => void entries.delete(key),
    getKeys: () => [...entries.keys()],
    clear: () => entries.clear(),
    dispose: () => entries.clear(),
  };
}

function connectTo(url: string, log: Logger) {
  const { watch } = createRedisWatch(log, "continuing without the shared cache");
  // The driver makes its client from the class it is given; this one is made here, to hear its errors.
  class ObservedRedis extends Redis {
    constructor() {
      super(url, { ...REDIS_OPTIONS, commandTimeout: REDIS_ANSWER_MS });
      watch(this);
    }
  }
  return { base: "parley", preConnect: true, lib: { Redis: ObservedRedis } as never };
}

function forgiving(driver: Driver): Driver {
  const guarded = { ...driver } as Record<string, unknown>;
  const missing: Record<string, unknown> = { hasItem: false, getKeys: [] };
  for (const [name, method] of Object.entries(driver)) {
    if (typeof method !== "function" || name === "getInstance") continue;
    guarded[name] = async (...args: unknown[]): Promise<unknown> => {
      try {
        return await method.apply(driver, args);
      } catch {
        return missing[name] ?? (name === "getItems" ? missedItems(args[0]) : null);
      }
    };
  }
  return guarded as unknown as Driver;
}

const SUM_BYTES = 8;

/**
 * Each value goes out behind a checksum over key and value: half of one, another program's, or that of another key must
 * never be read as an answer. Against somebody who writes on purpose only sealing helps, as for QR codes and group lists.
 */
function checked(driver: Driver): Driver {
  return {
    ...driver,
    getItem: async (key) => checkedText(key, await driver.getItem(key)),
    getItemRaw: async (key) => checkedBytes(key, await driver.getItemRaw!(key, {})),
    async getItems(items, options) {
      const found = await driver.getItems!(items, options);
      return found.map(({ key, value }) => ({ key, value: checkedText(key, value) }));
    },
    setItem: (key, value, options) =>
      driver.setItem!(key, sumOf(key, value).toString("hex") + value, options),
    setItemRaw: (key, value, options) => {
      const plain = Buffer.from(value as Uint8Array);
      return driver.setItemRaw!(key, Buffer.concat([sumOf(key, plain), plain]), options);
    },
    // One by one through `setItem`.
    setItems: undefined,
  };
}

function checkedText(key: string, stored: unknown): string | null {
  if (typeof stored !== "string") return null;
  const value = stored.slice(2 * SUM_BYTES);
  return stored.startsWith(sumOf(key, value).toString("hex")) ? value : null;
}

function checkedBytes(key: string, stored: unknown): Buffer | null {
  if (!Buffer.isBuffer(stored) || stored.length < SUM_BYTES) return null;
  const value = stored.subarray(SUM_BYTES);
  return stored.subarray(0, SUM_BYTES).equals(sumOf(key, value)) ? value : null;
}

function sumOf(key: string, value: string | Uint8Array): Buffer {
  return createHash("sha256").update(`${key}\0`).update(value).digest().subarray(0, SUM_BYTES);
}

function missedItems(items: unknown): { key: string; value: null }[] {
  return (items as { key: string }[]).map(({ key }) => ({ key, value: null }));
}
