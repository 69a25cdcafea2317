import type { FlowEntry } from "./types.ts";

/** What one run of a flow's code finds in its journal, and adds to it. */
export interface Journal {
  /** The key as it is kept: a name that comes again is counted, `slot`, `slot#2`, … */
  keyOf(name: string): string;
  /** What was got under the key, or under an earlier name of it. Marks it as reached. */
  find(key: string, kinds: readonly FlowEntry["kind"][], was?: string | readonly string[]): FlowEntry | null;
  /** Whether something that this run has reached was got after what stands under the key; with nothing there: in this run. */
  isOvertaken(key: string, was?: string | readonly string[]): boolean;
  /** Puts it behind everything, in the place of what stood under the key. */
  add(entry: FlowEntry): void;
  remove(key: string): void;
  /** The next entry behind those that were reached without a gap, when it is the result of a step. */
  stepInPlace(): FlowEntry | null;
  /** In the order in which they came. */
  entries(): FlowEntry[];
}

/** One entry, and what this run knows of it. */
interface Slot {
  entry: FlowEntry;
  /** When it came, among all of them: greater is newer. */
  place: number;
  isReached: boolean;
}

/** @param stored entries that are kept; not changed */
export function openJournal(stored: readonly FlowEntry[]): Journal {
  let slots = new Map<string, Slot>();
  for (const entry of stored) {
    const known = slots.get(entry.key);
    if (known === undefined) slots.set(entry.key, { entry, place: slots.size, isReached: false });
    else known.entry = entry;
  }
  const begun = slots.size;
  let next = begun;
  let newest = -1;
  const counts = new Map<string, number>();

  /** What stands under an earlier name. */
  function former(key: string, was: string | readonly string[]): Slot | undefined {
    const count = /#\d+$/.exec(key)?.[0] ?? "";
    const prefix = key.slice(0, key.lastIndexOf("/") + 1);
    for (const name of [was].flat()) {
      const old = slots.get(`${prefix}${name}${count}`);
      if (old !== undefined) return old;
    }
    return undefined;
  }

  /** An entry under an earlier name is under today's from now on. */
  function renamed(key: string, was: string | readonly string[]): Slot | undefined {
    const old = former(key, was);
    if (old === undefined) return undefined;
    const before = old.entry.key;
    old.entry = { ...old.entry, key };
    slots = new Map([...slots].map(([name, slot]) => [name === before ? key : name, slot]));
    return old;
  }

  return {
    keyOf(name) {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count === 1 ? name : `${name}#${count}`;
    },
    find(key, kinds, was) {
      const slot = slots.get(key) ?? (was === undefined ? undefined : renamed(key, was));
      if (slot === undefined || !kinds.includes(slot.entry.kind)) return null;
      slot.isReached = true;
      newest = Math.max(newest, slot.place);
      return slot.entry;
    },
    isOvertaken(key, was) {
      const slot = slots.get(key) ?? (was === undefined ? undefined : former(key, was));
      return newest > (slot === undefined ? begun - 1 : slot.place);
    },
    add(entry) {
      newest = next++;
      slots.delete(entry.key);
      slots.set(entry.key, { entry, place: newest, isReached: true });
    },
    remove(key) {
      slots.delete(key);
    },
    stepInPlace() {
      for (const { entry, isReached } of slots.values())
        if (!isReached) return entry.kind === "step" ? entry : null;
      return null;
    },
    entries: () => Array.from(slots.values(), ({ entry }) => entry),
  };
}
