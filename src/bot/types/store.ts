import type { Duration } from "../duration.ts";

/** Options of a stored value. */
export interface KeepOptions {
  /** Deletes the value after this time. Default: it stays as long as the number does. */
  ttl?: Duration;
}

/** One stored value. */
export interface KeptEntry<T = unknown> {
  key: string;
  value: T;
}

/**
 * A bot's own store on one number, shared by all its chats. Values are JSON, under keys of your choice.
 *
 * Changes are committed with the handler's replies, or not at all. If another handler changes a key that this one has read,
 * and this one writes too, then this one runs again with the new values. So a counter that many chats raise loses nothing.
 * Limits: 16 KiB per value, 200 characters per key, 100 keys per message, and 100,000 keys per bot and number.
 */
export interface BotStore {
  /** @returns null when nothing is stored under the key */
  get<T = unknown>(key: string): Promise<T | null>;
  /** @throws {TypeError} for values that are not JSON or too large, and inside a step */
  set(key: string, value: unknown, options?: KeepOptions): void;
  delete(key: string): void;
  /**
   * Returns the entries whose keys begin with the prefix, ordered by the UTF-8 bytes of the key.
   *
   * @param options `limit`: how many of the first entries; default 100, at most 1,000
   */
  list<T = unknown>(prefix?: string, options?: { limit?: number }): Promise<KeptEntry<T>[]>;
}
