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

/** @param stored entries that are kept; not changed */
export function openJournal(stored: readonly FlowEntry[]): Journal {
  let entries = new Map<string, FlowEntry>();
  for (const entry of stored) entries.set(entry.key, entry);
  const places = new Map([...entries.keys()].map((key, place) => [key, place]));
  const begun = entries.size;
  let next = begun;
  let newest = -1;
  const reached = new Set<string>();
  const counts = new Map<string, number>();

  /** What stands under an earlier name. */
  function former(key: string, was: string | readonly string[] = []): FlowEntry | undefined {
    const count = /#\d+$/.exec(key)?.[0] ?? "";
    const prefix = key.slice(0, key.lastIndexOf("/") + 1);
    for (const name of [was].flat()) {
      const old = entries.get(`${prefix}${name}${count}`);
      if (old !== undefined) return old;
    }
    return undefined;
  }

  /** An entry under an earlier name is under today's from now on. */
  function renamed(key: string, was: string | readonly string[] | undefined): FlowEntry | undefined {
    const old = former(key, was);
    if (old === undefined) return undefined;
    const entry = { ...old, key };
    places.set(key, places.get(old.key)!);
    entries = new Map(
      [...entries.values()].map((other) => (other === old ? [key, entry] : [other.key, other])),
    );
    return entry;
  }

  return {
    keyOf(name) {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count === 1 ? name : `${name}#${count}`;
    },
    find(key, kinds, was) {
      const entry = entries.get(key) ?? renamed(key, was);
      if (entry === undefined || !kinds.includes(entry.kind)) return null;
      reached.add(key);
      newest = Math.max(newest, places.get(key)!);
      return entry;
    },
    isOvertaken(key, was) {
      const entry = entries.get(key) ?? former(key, was);
      return newest > (entry === undefined ? begun - 1 : places.get(entry.key)!);
    },
    add(entry) {
      reached.add(entry.key);
      newest = next++;
      places.set(entry.key, newest);
      entries.delete(entry.key);
      entries.set(entry.key, entry);
    },
    remove(key) {
      entries.delete(key);
    },
    stepInPlace() {
      for (const entry of entries.values())
        if (!reached.has(entry.key)) return entry.kind === "step" ? entry : null;
      return null;
    },
    entries: () => [...entries.values()],
  };
}
