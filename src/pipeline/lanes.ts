/** One message that waits in its chat's lane. */
export interface Waiting<T> {
  /** Rises with arrival. */
  id: number;
  item: T;
}

export interface LanesDeps<T> {
  /** Handles one item; never throws. False: the gateway stops, the item stays undecided. */
  handle: (item: T) => Promise<boolean>;
  /** Lanes of one group that are handled at the same time. */
  maxParallel: number;
}

/** Items of one key are handled one after the other; different keys in parallel, up to a bound per group. */
export interface Lanes<T> {
  /**
   * @param group what shares one bound: a number
   * @param key   what must stay in order: a chat of that number
   */
  add(group: number, key: string, waiting: Waiting<T>): void;
  /** Whether something of that key waits or is handled. */
  has(group: number, key: string): boolean;
  /** What waits behind the item that is being handled, oldest first. */
  following(group: number, key: string): T[];
  /** Items that wait or are handled. */
  readonly size: number;
  /** Drops everything of a group that is not being handled right now. */
  forget(group: number): void;
  /** Begins nothing more; resolves when what is being handled has ended. */
  drain(): Promise<void>;
}

interface Lane<T> {
  key: string;
  waiting: Waiting<T>[];
}

interface Group<T> {
  lanes: Map<string, Lane<T>>;
  /** Lanes that have something to do and are not being handled. */
  ready: Lane<T>[];
  running: number;
}

export function createLanes<T>({ handle, maxParallel }: LanesDeps<T>): Lanes<T> {
  const groups = new Map<number, Group<T>>();
  let size = 0;
  let running = 0;
  let stopped = false;
  let whenQuiet: (() => void) | null = null;

  const mayBegin = (group: Group<T>): boolean =>
    !stopped && group.running < maxParallel && group.ready.length > 0;
  const goesOn = (group: Group<T>): boolean => !stopped && group.ready.length === 0;

  function pump(id: number, group: Group<T>): void {
    while (mayBegin(group)) {
      const lane = group.ready.shift()!;
      group.running++;
      running++;
      void run(id, group, lane);
    }
  }

  async function run(id: number, group: Group<T>, lane: Lane<T>): Promise<void> {
    do {
      const next = lane.waiting[0]!;
      if (!(await handle(next.item))) break;
      lane.waiting.shift();
      size--;
      // Whoever waits for a place comes first: a busy chat must not keep the others from theirs.
    } while (lane.waiting.length > 0 && goesOn(group));
    group.running--;
    running--;
    // In the same tick as the look at the queue: nothing can be added to a lane that is being taken away.
    if (lane.waiting.length > 0) group.ready.push(lane);
    else group.lanes.delete(lane.key);
    if (group.lanes.size === 0 && groups.get(id) === group) groups.delete(id);
    if (running === 0) whenQuiet?.();
    pump(id, group);
  }

  return {
    add(id, key, waiting) {
      const group: Group<T> = groups.get(id) ?? { lanes: new Map(), ready: [], running: 0 };
      groups.set(id, group);
      let lane = group.lanes.get(key);
      if (lane === undefined) {
        lane = { key, waiting: [] };
        group.lanes.set(key, lane);
        group.ready.push(lane);
      }
      insertInOrder(lane.waiting, waiting);
      size++;
      pump(id, group);
    },

    has: (id, key) => groups.get(id)?.lanes.has(key) ?? false,

    following: (id, key) =>
      groups
        .get(id)
        ?.lanes.get(key)
        ?.waiting.slice(1)
        .map(({ item }) => item) ?? [],

    get size() {
      return size;
    },

    forget(id) {
      const group = groups.get(id);
      if (group === undefined) return;
      for (const lane of group.lanes.values()) {
        const kept = group.ready.includes(lane) ? 0 : 1;
        size -= lane.waiting.length - kept;
        lane.waiting.length = kept;
        if (kept === 0) group.lanes.delete(lane.key);
      }
      group.ready.length = 0;
      if (group.lanes.size === 0) groups.delete(id);
    },

    async drain() {
      stopped = true;
      if (running > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    },
  };
}

/** Commits are told in order; this keeps it so whatever happens between commit and call. The first is being handled. */
function insertInOrder<T>(queue: Waiting<T>[], waiting: Waiting<T>): void {
  let place = queue.length;
  while (place > 1 && queue[place - 1]!.id > waiting.id) place--;
  queue.splice(place, 0, waiting);
}
