import { HOUR_MS, type Time } from "../model/time.ts";

/** What `GET /events` may tell of, in the words of its `event:` lines. */
const EVENT_NAMES = [
  "device",
  "message.in",
  "message.out",
  "read",
  "decision",
  "delivery",
  "webhook",
] as const;
/** One of {@link EVENT_NAMES}. */
export type EventName = (typeof EVENT_NAMES)[number];

/** Something that happened to a number of an account. */
export interface AccountEvent {
  /** Rises from event to event of an account, over restarts too. */
  id: number;
  name: EventName;
  /** The linked number it happened to, digits. */
  number: string;
  /** One record, as the part that tells of it knows it. */
  record: unknown;
}

/** Something to tell those who listen to an account. */
interface Happening {
  name: EventName;
  number: string;
  /**
   * What is told; asked only when somebody listens, in the order of publishing. Null: nothing after all.
   * Of several that wait under the same `key` only the first is asked: it tells what holds then.
   */
  record: () => unknown | Promise<unknown>;
  key?: string;
}

/** One listener's place in the events of an account. */
export interface EventReader {
  /**
   * The next events after those taken before, at most `most`; none: there are none yet. Null: the reader was so slow
   * that events it has not taken are gone.
   */
  take(most: number): AccountEvent[] | null;
  /** Resolves at the next event, after `ms`, or when the reader is closed. */
  wait(ms: number): Promise<void>;
  /** True when events that it has not taken are gone. */
  isBehind(): boolean;
  close(): void;
}

/** What happens, by account. */
export interface Events {
  /** True while anybody listens to the account, or may come back for what it missed. */
  hasListeners(accountId: string): boolean;
  publish(accountId: string, happening: Happening): void;
  /**
   * @param after id of the last event that the listener has; null: from now on
   * @param keyId which of the account's keys listens
   * @returns null when the account has {@link MOST_READERS} already, or the key {@link MOST_READERS_OF_KEY}
   */
  read(accountId: string, keyId: string, after: number | null): EventReader | null;
}

/** How many events of an account are kept for who comes back. */
export const KEPT_EVENTS = 1_000;
/** Listeners of one account at a time. */
export const MOST_READERS = 50;
/** Of these, of one key: a program that forgets its streams leaves places to the account's others. */
export const MOST_READERS_OF_KEY = 20;
/** How long events are kept for an account whose last listener has left. */
const KEPT_FOR_MS = HOUR_MS;
/** Records that wait to be read; beyond that events are left out, which their ids show. */
const MOST_WAITING = 1_000;

interface Feed {
  events: AccountEvent[];
  lastId: number;
  /** Id of the newest event that is not kept any more. */
  goneUpTo: number;
  /** To be woken by the next event, each with the key that listens. */
  readers: Map<() => void, string>;
  /** When the last listener left; null while there is one. */
  leftAt: number | null;
  waiting: Set<string | symbol>;
  telling: Promise<void>;
}

/**
 * What happens in this process, for whoever listens over HTTP. An account that nobody listens to costs one look into a
 * map; from its first listener on, its last events are kept in memory.
 *
 * @param time the first id of an account is made of its clock, so that ids rise over restarts
 */
export function createEvents(time: Pick<Time, "now" | "after">): Events {
  const { now } = time;
  const feeds = new Map<string, Feed>();

  function feedOf(accountId: string): Feed | null {
    const feed = feeds.get(accountId);
    if (feed === undefined) return null;
    if (feed.leftAt === null || now() - feed.leftAt < KEPT_FOR_MS) return feed;
    feeds.delete(accountId);
    return null;
  }

  function openFeed(accountId: string): Feed {
    const lastId = now() * 1000;
    const feed: Feed = {
      events: [],
      lastId,
      goneUpTo: lastId,
      readers: new Map(),
      leftAt: now(),
      waiting: new Set(),
      telling: Promise.resolve(),
    };
    feeds.set(accountId, feed);
    return feed;
  }

  async function tell(feed: Feed, place: string | symbol, happening: Happening): Promise<void> {
    feed.waiting.delete(place);
    const { name, number } = happening;
    const record = await happening.record();
    if (record === null) return;
    feed.events.push({ id: ++feed.lastId, name, number, record });
    if (feed.events.length > KEPT_EVENTS) feed.goneUpTo = feed.events.shift()!.id;
    for (const wake of feed.readers.keys()) wake();
  }

  function readerOf(feed: Feed, keyId: string, start: number): EventReader {
    let last = start;
    let closed = false;
    let endWait: (() => void) | null = null;
    const wake = (): void => endWait?.();
    feed.readers.set(wake, keyId);
    feed.leftAt = null;

    return {
      take(most) {
        const { events, lastId, goneUpTo } = feed;
        if (last < goneUpTo) return null;
        const taken: AccountEvent[] = [];
        // Readers are near the end as a rule.
        let place = events.length;
        while (place > 0 && events[place - 1]!.id > last) place--;
        for (; place < events.length && taken.length < most; place++) taken.push(events[place]!);
        last = taken.at(-1)?.id ?? lastId;
        return taken;
      },
      wait(ms) {
        if (closed || last < feed.lastId) return Promise.resolve();
        return new Promise((resolve) => {
          const cancel = time.after(ms, wake);
          endWait = () => {
            cancel();
            endWait = null;
            resolve();
          };
        });
      },
      isBehind: () => last < feed.goneUpTo,
      close() {
        if (closed) return;
        closed = true;
        feed.readers.delete(wake);
        if (feed.readers.size === 0) feed.leftAt = now();
        wake();
      },
    };
  }

  return {
    hasListeners: (accountId) => feeds.size > 0 && feedOf(accountId) !== null,

    publish(accountId, happening) {
      const feed = feeds.size === 0 ? null : feedOf(accountId);
      if (feed === null) return;
      const place = happening.key ?? Symbol("event");
      if (feed.waiting.has(place)) return;
      if (feed.waiting.size >= MOST_WAITING) {
        feed.lastId++;
        return;
      }
      feed.waiting.add(place);
      // A record that cannot be read is left out like one that is gone.
      feed.telling = feed.telling.then(() => tell(feed, place, happening)).catch(() => void feed.lastId++);
    },

    read(accountId, keyId, after) {
      const feed = feedOf(accountId) ?? openFeed(accountId);
      const ofKey = [...feed.readers.values()].filter((listening) => listening === keyId).length;
      if (feed.readers.size >= MOST_READERS || ofKey >= MOST_READERS_OF_KEY) return null;
      const start = Math.max(after ?? feed.lastId, feed.goneUpTo);
      return readerOf(feed, keyId, Math.min(start, feed.lastId));
    },
  };
}
