import type { Time } from "../model/time.ts";
import type { Look } from "./lease-table.ts";

/** Who has what, as far as this node has heard. */
export interface View {
  /** What the database said last; null: nothing yet. */
  readonly look: Look | null;
  note(look: Look): void;
  /** Heard from the one who has done it. @param owner null: they are free */
  moved(partitions: readonly number[], owner: string | null): void;
  ownerOf(partition: number): string | null;
  /** It has been free for longer than a lease: whoever should have taken it does not. */
  isOrphan(partition: number): boolean;
  /** Milliseconds from the last look until the first lease in it ends, as happens when a node has died. */
  nextEndMs(): number;
}

/** A lease is looked at when it is over, not just before. */
const AFTER_END_MS = 20;

/** Keeps what was seen last; the database is asked again before anything is done. */
export function createView(time: Pick<Time, "monotonic">, leaseMs: number): View {
  let last: Look | null = null;
  let owners: (string | null)[] = [];
  let freeSince = new Map<number, number>();
  return {
    get look() {
      return last;
    },
    note(look) {
      last = look;
      owners = look.partitions.map(({ node, leftMs }) => (leftMs > 0 ? node : null));
      const now = time.monotonic();
      const free = look.partitions.flatMap(({ leftMs }, partition) => (leftMs <= 0 ? [partition] : []));
      freeSince = new Map(free.map((partition) => [partition, freeSince.get(partition) ?? now]));
    },
    moved(partitions, owner) {
      for (const partition of partitions) owners[partition] = owner;
    },
    ownerOf: (partition) => owners[partition] ?? null,
    isOrphan: (partition) => time.monotonic() - (freeSince.get(partition) ?? Infinity) > leaseMs,
    nextEndMs() {
      const ends = (last?.partitions ?? []).filter(({ leftMs }) => leftMs > 0);
      return Math.min(Infinity, ...ends.map(({ leftMs }) => leftMs + AFTER_END_MS));
    },
  };
}
