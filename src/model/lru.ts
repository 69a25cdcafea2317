import { LRUCache } from "lru-cache";

/**
 * A map of at most so many entries: the one that was not asked for the longest makes room. It takes memory as it fills; a
 * cache that is told `max` itself takes it all at once, 3 MB for 100,000 entries, in each connection and at each start.
 *
 * @param ttlMs an entry is forgotten so long after it was set; default: never
 */
export function createLru<K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  max: number,
  ttlMs?: number,
): LRUCache<K, V> {
  return new LRUCache<K, V>({
    maxSize: max,
    sizeCalculation: () => 1,
    ...(ttlMs !== undefined && { ttl: ttlMs }),
  });
}
