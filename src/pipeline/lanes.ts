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
   * @param following what waits behind it in its lane now, oldest first
   */
  handle: (item: T, following: () => T[]) => Promise<boolean>;
  /** Told of an item that comes behind others, whether the first of them is being handled or not. */
  arrived?: (first: T, item: T) => void;
  /** Lanes of one group that are handled at the same time. */
  maxParallel: number;
}

/** Items of one key are handled one after the other; different keys in parallel, up to a bound per group. */
export interface Lanes<T> {
  /**
   * @param group what shares one bound: a number
   * @param key   what must stay in order: a chat of that number
   */
  add(group: number, key: string, waiting: LaneItem<T>): void;
  /** How many items of that key wait or are handled. */
  count(group: number, key: string): number;
  /** Items that wait or are handled. */
  readonly size: number;
  /** Drops everything of a group but what is being handled right now; nothing of it goes on after that. */
  close(group: number): void;
  /** Begins nothing more; resolves when what is being handled has ended. */
  drain(): Promise<void>;
}

interface Lane<T> {
  key: string;
  waiting: LaneItem<T>[];
}

interface Group<T> {
  lanes: Map<string, Lane<T>>;
  /** Lanes that have something to do and are not being handled. */
  ready: Lane<T>[];
  running: number;
  closed: boolean;
}

/** Lanes without anything in them. Begins to handle an item as soon as it is added, when there is room. */
export function createLanes<T>({ handle, arrived, maxParallel }: LanesDeps<T>): Lanes<T> {
  const groups = new Map<number, Group<T>>();
  let size = 0;
  let running = 0;
  let stopped = false;
  let whenQuiet: (() => void) | null = null;

  const mayBegin = (group: Group<T>): boolean =>
    !stopped && !group.closed && group.running < maxParallel && group.ready.length > 0;
  const goesOn = (group: Group<T>): boolean => !stopped && !group.closed && group.ready.length === 0;

  function pump(id: number, group: Group<T>): void {
    while (mayBegin(group)) {
      const lane = group.ready.shift()!;
      group.running++;
      running++;
      void run(id, group, lane);
    }
  }

  async function run(id: number, group: Group<T>, lane: Lane<T>): Promise<void> {
    const following = (): T[] => lane.waiting.slice(1).map(({ item }) => item);
    do {
      const decided = await handle(lane.waiting[0]!.item, following);
      if (!decided || group.closed) break;
      lane.waiting.shift();
      size--;
      // Whoever waits for a place comes first: a busy chat must not keep the others from theirs.
    } while (lane.waiting.length > 0 && goesOn(group));
    group.running--;
    running--;
    if (running === 0) whenQuiet?.();
    if (group.closed) return;
    // In the same tick as the look at the queue: nothing can be added to a lane that is being taken away.
    if (lane.waiting.length > 0) group.ready.push(lane);
    else group.lanes.delete(lane.key);
    if (group.lanes.size === 0 && groups.get(id) === group) groups.delete(id);
    pump(id, group);
  }

  return {
    add(id, key, waiting) {
      const group: Group<T> = groups.get(id) ?? { lanes: new Map(), ready: [], running: 0, closed: false };
      groups.set(id, group);
      let lane = group.lanes.get(key);
      if (lane === undefined) {
        lane = { key, waiting: [] };
        group.lanes.set(key, lane);
        group.ready.push(lane);
      }
      insertInOrder(lane.waiting, waiting);
      if (lane.waiting.length > 1) arrived?.(lane.waiting[0]!.item, waiting.item);
      size++;
      pump(id, group);
    },

    count: (id, key) => groups.get(id)?.lanes.get(key)?.waiting.length ?? 0,

    get size() {
      return size;
    },

    close(id) {
      const group = groups.get(id);
      if (group === undefined) return;
      group.closed = true;
      groups.delete(id);
      for (const lane of group.lanes.values()) size -= lane.waiting.length;
    },

    async drain() {
      stopped = true;
      if (running > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    },
  };
}

/** Commits are told in order; this keeps it so whatever happens between commit and call. The first is being handled. */
function insertInOrder<T>(queue: LaneItem<T>[], waiting: LaneItem<T>): void {
  let place = queue.length;
  while (place > 1 && queue[place - 1]!.id > waiting.id) place--;
  queue.splice(place, 0, waiting);
}
