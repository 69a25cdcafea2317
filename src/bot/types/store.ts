import type { Duration } from "../duration.ts";

/** How something is kept. */
export interface KeepOptions {
  /** Forgotten after this time. Default: kept as long as the number is. */
  ttl?: Duration;
}

/** One thing that is kept. */
export interface KeptEntry<T = unknown> {
  key: string;
  value: T;
}

/**
 * What a bot keeps for itself on this number, whatever chat it writes in: under keys of its own, values as JSON has them.
 *
 * What a handler writes is committed with its replies, or not at all. When a key that it has read was written elsewhere meanwhile,
 * and it writes something itself, it runs again with what is there now: a count that many chats change loses nothing.
 * At most 16 KiB for a value, 200 characters for a key, 100 keys for one message and 100,000 for a bot on a number.
 */
export interface BotStore {
  /** @returns null when nothing is kept under the key */
  get<T = unknown>(key: string): Promise<T | null>;
  /** @throws {TypeError} what is no JSON, or too large; inside of a step */
  set(key: string, value: unknown, options?: KeepOptions): void;
  delete(key: string): void;
  /**
   * What stands under keys that begin with this, by their order (that of their UTF-8 bytes).
   *
   * @param options `limit`: as many of the first; default 100, at most 1,000
   */
  list<T = unknown>(prefix?: string, options?: { limit?: number }): Promise<KeptEntry<T>[]>;
}
