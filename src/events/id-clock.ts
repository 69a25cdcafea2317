import type { Store } from "../store/store.ts";

/** The ids of Redis, and what they say of the time. */
export type IdClock = ReturnType<typeof createIdClock>;

/** What the clock of Redis says now, in the words of ids, as far as this node can tell: its own may be wrong by an hour. */
export function createIdClock({ time, now }: Pick<Store, "time" | "now">) {
  let told: { id: number; at: number } | null = null;
  return {
    now: (): number =>
      told === null ? now() * 1_000 : told.id + Math.floor((time.monotonic() - told.at) * 1_000),
    /** Redis has given this id. A floor that was raised by a node's own ids must not be taken for the time. */
    learn(id: number, floor: number): void {
      if (id > floor + 1) told = { id, at: time.monotonic() };
    },
  };
}
