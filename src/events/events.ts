import { HOUR_MS, type Time } from "../model/time.ts";
import type { EventReader } from "./event.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createTelling, type Happening, type Telling } from "./telling.ts";

/** What happens, by account. */
export interface Events {
  /** True while anybody listens to the account, or may come back for what it missed. */
  hasListeners(accountId: string): boolean;
  publish(accountId: string, happening: Happening): void;
  /**
   * Resolves when whatever happens from then on is told.
   *
   * @param after id of the last event that the listener has; null: from now on
   * @param keyId which of the account's keys listens
   * @returns null when the account has `MOST_READERS` already, or the key `MOST_READERS_OF_KEY`
   */
  read(
    accountId: string,
    keyId: string,
    after: number | null,
  ): EventReader | null | Promise<EventReader | null>;
  /** Nobody publishes or reads any more. */
  stop(): void;
}

/** Events of one process, which needs to ask nobody. */
export interface OwnEvents extends Events {
  read(accountId: string, keyId: string, after: number | null): EventReader | null;
}

/** How long events are kept for an account whose last listener has left. */
export const KEPT_FOR_MS = HOUR_MS;

interface KeptFeed {
  feed: Feed;
  /** When the last listener left; null while there is one. */
  leftAt: number | null;
  telling: Telling;
}

/**
 * What happens in this process, for whoever listens over HTTP. An account that nobody listens to costs one look into a
 * map; from its first listener on, its last events are kept in memory.
 *
 * @param time the first id of an account is made of its clock, so that ids rise over restarts
 */
export function createEvents(time: Pick<Time, "now" | "after">): OwnEvents {
  const { now } = time;
  const feeds = new Map<string, KeptFeed>();

  function feedOf(accountId: string): KeptFeed | null {
    const kept = feeds.get(accountId);
    if (kept === undefined) return null;
    if (kept.leftAt === null || now() - kept.leftAt < KEPT_FOR_MS) return kept;
    feeds.delete(accountId);
    return null;
  }

  function openFeed(accountId: string): KeptFeed {
    const begin = now() * 1000;
    const feed = createFeed(time, begin, begin, (count) => {
      kept.leftAt = count === 0 ? now() : null;
    });
    const telling = createTelling({
      tell: (event) => feed.push({ id: feed.lastId + 1, ...event }),
      leaveOut: feed.leaveOut,
    });
    const kept: KeptFeed = { feed, telling, leftAt: now() };
    feeds.set(accountId, kept);
    return kept;
  }

  return {
    hasListeners: (accountId) => feeds.size > 0 && feedOf(accountId) !== null,
    publish: (accountId, happening) => void (feeds.size > 0 && feedOf(accountId)?.telling.publish(happening)),
    read(accountId, keyId, after) {
      const { feed } = feedOf(accountId) ?? openFeed(accountId);
      return feed.read(keyId, Math.min(after ?? feed.lastId, feed.lastId));
    },
    stop: () => feeds.clear(),
  };
}
