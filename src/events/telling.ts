import type { AccountEvent, EventName } from "./event.ts";

/** Something to tell those who listen to an account. */
export interface Happening {
  name: EventName;
  number: string;
  /**
   * What is told; asked only when somebody listens, in the order of publishing. Null: nothing after all.
   * Of several that wait under the same `key` only the first is asked: it tells what holds then.
   */
  record: () => unknown | Promise<unknown>;
  key?: string;
}

/** Turns what happens to one account into events, in the order of publishing. */
export interface Telling {
  publish(happening: Happening): void;
  /** Nothing waits to be told. */
  readonly isIdle: boolean;
}

interface TellingDeps {
  tell(event: Omit<AccountEvent, "id">): void | Promise<void>;
  /** An event is lost: too many wait, or its record cannot be read. */
  leaveOut(): void;
}

/** Records that wait to be read; beyond that events are left out, which their ids show. */
const MOST_WAITING = 1_000;

/** Records are read one after the other, when their turn comes. */
export function createTelling({ tell, leaveOut }: TellingDeps): Telling {
  const waiting = new Set<string | symbol>();
  let telling: Promise<void> = Promise.resolve();
  let open = 0;

  async function tellOf(place: string | symbol, { name, number, record: read }: Happening): Promise<void> {
    waiting.delete(place);
    const record = await read();
    if (record !== null) await tell({ name, number, record });
  }

  return {
    publish(happening) {
      const place = happening.key ?? Symbol("event");
      if (waiting.has(place)) return;
      if (waiting.size >= MOST_WAITING) return leaveOut();
      waiting.add(place);
      open++;
      // A record that cannot be read is left out like one that is gone.
      telling = telling
        .then(() => tellOf(place, happening))
        .catch(leaveOut)
        .finally(() => open--);
    },
    get isIdle() {
      return open === 0;
    },
  };
}
