/** One message that waits in its chat's lane. */
export interface LaneItem<T> {
  /** Rises with arrival. */
  id: number;
  item: T;
}

interface LanesDeps<T> {
  /**
   * Handles one item; never throws. False: the item stays undecided, because nothing is to be begun any more.
   *
   * @param behind what waits behind it in its lane now, oldest first
   */
  handle: (item: T, behind: () => T[]) => Promise<boolean>;
  /** Told of an item that comes behind others, whether the first of them is being handled or not. */
  arrived?: (first: T, item: T) => void;
  /** Lanes that are handled at the same time. */
  maxParallel: number;
  /** Items of all numbers that wait or are handled; counted along. */
  tally?: { items: number };
}

/** Items of one key are handled one after the other; different keys in parallel, up to a bound. */
export interface Lanes<T> {
  /** @param key what must stay in order: a chat */
  add(key: string, waiting: LaneItem<T>): void;
  /** How many items of that key wait or are handled. */
  count(key: string): number;
  /** Items that wait or are handled. */
  readonly size: number;
  /** Drops everything but what is being handled right now; nothing goes on after that. */
  close(): void;
  /** Begins nothing more; resolves when what is being handled has ended. */
  drain(): Promise<void>;
}

interface Lane<T> {
  key: string;
  waiting: LaneItem<T>[];
}

/** Lanes without anything in them. Begins to handle an item as soon as it is added, when there is room. */
export function createLanes<T>({ handle, arrived, maxParallel, tally }: LanesDeps<T>): Lanes<T> {
  const lanes = new Map<string, Lane<T>>();
  /** Lanes that have something to do and are not being handled. */
  const ready: Lane<T>[] = [];
  let size = 0;
  let running = 0;
  let stopped = false;
  let onIdle: (() => void) | null = null;
  let quiet: Promise<void> | null = null;

  function count(more: number): void {
    size += more;
    if (tally !== undefined) tally.items += more;
  }

  const mayBegin = (): boolean => !stopped && running < maxParallel && ready.length > 0;
  const goesOn = (): boolean => !stopped && ready.length === 0;

  function pump(): void {
    while (mayBegin()) {
      running++;
      void run(ready.shift()!);
    }
  }

  async function run(lane: Lane<T>): Promise<void> {
    const behind = (): T[] => lane.waiting.slice(1).map(({ item }) => item);
    do {
      const decided = await handle(lane.waiting[0]!.item, behind);
      // Closed meanwhile: it is counted no more.
      if (!decided || lanes.get(lane.key) !== lane) break;
      lane.waiting.shift();
      count(-1);
      // Whoever waits for a place comes first: a busy chat must not keep the others from theirs.
    } while (lane.waiting.length > 0 && goesOn());
    running--;
    if (running === 0) onIdle?.();
    if (lanes.get(lane.key) !== lane) return;
    // In the same tick as the look at the queue: nothing can be added to a lane that is being taken away.
    if (lane.waiting.length > 0) ready.push(lane);
    else lanes.delete(lane.key);
    pump();
  }

  return {
    add(key, waiting) {
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = { key, waiting: [] };
        lanes.set(key, lane);
        ready.push(lane);
      }
      insertInOrder(lane.waiting, waiting);
      if (lane.waiting.length > 1) arrived?.(lane.waiting[0]!.item, waiting.item);
      count(1);
      pump();
    },

    count: (key) => lanes.get(key)?.waiting.length ?? 0,

    get size() {
      return size;
    },

    close() {
      stopped = true;
      lanes.clear();
      ready.length = 0;
      count(-size);
    },

    async drain() {
      stopped = true;
      if (running > 0) await (quiet ??= new Promise((resolve) => (onIdle = resolve)));
    },
  };
}

/** Commits are told in order; this keeps it so whatever happens between commit and call. The first is being handled. */
function insertInOrder<T>(queue: LaneItem<T>[], waiting: LaneItem<T>): void {
  let place = queue.length;
  while (place > 1 && queue[place - 1]!.id > waiting.id) place--;
  queue.splice(place, 0, waiting);
}
