import type { Time } from "../model/time.ts";
import type { AccountEvent, EventReader } from "./event.ts";

/** How many events of an account are kept for who comes back. */
export const KEPT_EVENTS = 1_000;
/** Listeners of one account at a time, at one node. */
export const MOST_READERS = 50;
/** Of these, of one key: a program that forgets its streams leaves places to the account's others. */
export const MOST_READERS_OF_KEY = 20;

/** The last events of an account in memory, and those who read them here. */
export interface Feed {
  /** Of the newest event, left out or not; the next one has a greater one. */
  readonly lastId: number;
  readonly size: number;
  /** An event whose id is greater than all before. */
  push(event: AccountEvent): void;
  /** An event is not told: its id is missing. */
  leaveOut(): void;
  /** Events of before, by rising ids: those that are kept already stay as they are. Readers are told. */
  precede(older: readonly AccountEvent[]): void;
  /**
   * @param start id of the last event that the reader has; one that is still to come leaves out those before it
   * @returns null when there are too many of the account, or of the key
   */
  read(keyId: string, start: number): EventReader | null;
}

/**
 * @param lastId    where it begins
 * @param goneUpTo  what was before is gone, 0 where it may come (`precede`)
 * @param onReaders told how many read now, whenever it changes
 */
export function createFeed(
  time: Pick<Time, "after">,
  lastId: number,
  goneUpTo: number,
  onReaders: (count: number) => void,
): Feed {
  const kept: Kept = { events: [], lastId, goneUpTo };
  /** To be woken by the next event, each with the key that listens. */
  const readers = new Map<() => void, string>();
  const wakeAll = (): void => {
    for (const wake of readers.keys()) wake();
  };

  return {
    get lastId() {
      return kept.lastId;
    },
    get size() {
      return readers.size;
    },
    push(event) {
      kept.lastId = event.id;
      kept.events.push(event);
      if (kept.events.length > KEPT_EVENTS) kept.goneUpTo = kept.events.shift()!.id;
      wakeAll();
    },
    leaveOut: () => void kept.lastId++,
    precede(older) {
      const first = kept.events[0]?.id ?? Infinity;
      const all = [...older.filter(({ id }) => id < first), ...kept.events];
      kept.events = all.slice(-KEPT_EVENTS);
      kept.goneUpTo = all.at(-KEPT_EVENTS - 1)?.id ?? 0;
      kept.lastId = Math.max(kept.lastId, kept.events.at(-1)?.id ?? 0);
      wakeAll();
    },
    read(keyId, start) {
      const ofKey = [...readers.values()].filter((listening) => listening === keyId).length;
      if (readers.size >= MOST_READERS || ofKey >= MOST_READERS_OF_KEY) return null;
      const { reader, wake } = createReader(time, kept, Math.max(start, kept.goneUpTo), () => {
        readers.delete(wake);
        onReaders(readers.size);
      });
      readers.set(wake, keyId);
      onReaders(readers.size);
      return reader;
    },
  };
}

/** The last events of an account. */
interface Kept {
  /** By rising ids. */
  events: AccountEvent[];
  lastId: number;
  goneUpTo: number;
}

function createReader(time: Pick<Time, "after">, kept: Kept, start: number, onClose: () => void) {
  let last = start;
  /** There was nothing more for it when the newest id was this: events of before may still come. */
  let seen = start;
  let closed = false;
  let endWait: (() => void) | null = null;
  const wake = (): void => endWait?.();

  const reader: EventReader = {
    take(most) {
      if (last < kept.goneUpTo) return null;
      const { events } = kept;
      const taken: AccountEvent[] = [];
      // Readers are near the end as a rule.
      let place = events.length;
      while (place > 0 && events[place - 1]!.id > last) place--;
      for (; place < events.length && taken.length < most; place++) taken.push(events[place]!);
      last = taken.at(-1)?.id ?? last;
      seen = taken.length === most ? last : kept.lastId;
      return taken;
    },
    wait(ms) {
      if (closed || seen < kept.lastId) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = time.after(ms, wake);
        endWait = () => {
          cancel();
          endWait = null;
          resolve();
        };
      });
    },
    isBehind: () => last < kept.goneUpTo,
    close() {
      if (closed) return;
      closed = true;
      onClose();
      wake();
    },
  };
  return { reader, wake };
}
