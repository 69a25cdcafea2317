import { chatState } from "../../drizzle/schema.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { Attempt } from "./attempts/deliver.ts";
import type { Delivery } from "./rows.ts";

/** Chats that a number's webhook keeps for itself (`hold: seconds`), so that no bot's keyword cuts into its dialogue. */
export interface Holds {
  /** Reads what is held. Call it before the first message. @throws StorageUnavailable */
  load(): Promise<void>;
  holds(chat: string): boolean;
  /** Holds from now on, 0 lets go; in force at once, kept by the statement. */
  keep(chat: string, seconds: number): Statement;
  /** The webhook is gone, and what the table held with it. */
  forget(): void;
  /** The clock was set back by so many milliseconds: what is held is not held longer for it. */
  onClockMoved(ms: number): void;
}

const KEEP = `insert into chat_state (device_id, chat, held_until) values (?, ?, ?)
  on conflict (device_id, chat) do update set held_until = excluded.held_until`;

const HELD = defineQuery(
  `select rowid as place, chat, held_until as heldUntil from chat_state indexed by chat_state_held
    where held_until is not null and device_id = ? and (held_until, rowid) > (?, ?)
    order by held_until, rowid limit ?`,
  { place: integer(), chat: chatState.chat, heldUntil: integer() },
);
/** By both clocks, whichever is first: the host's may be set back, and the other one knows nothing of the last run. */
interface Hold {
  /** Unix milliseconds. */
  until: number;
  /** As `Time.monotonic`. */
  deadline: number;
}

/** Numbers of holds at which those that are over are looked for; doubled by what is left. */
const FIRST_PRUNING = 1_000;

/** Holds nothing until `load` has read what is in the table. */
export function createHolds(store: Pick<Store, "pages" | "time">, deviceId: number): Holds {
  const { time } = store;
  /** In memory: every message asks. */
  const held = new Map<string, Hold>();
  let added = 0;
  let pruneAt = FIRST_PRUNING;

  const isOver = ({ until, deadline }: Hold): boolean => time.now() >= until || time.monotonic() >= deadline;

  function set(chat: string, until: number): void {
    held.set(chat, { until, deadline: time.monotonic() + until - time.now() });
    if (++added >= pruneAt) prune();
  }

  function prune(): void {
    for (const [chat, hold] of held) if (isOver(hold)) held.delete(chat);
    added = held.size;
    pruneAt = Math.max(FIRST_PRUNING, 2 * added);
  }

  return {
    async load() {
      const now = { heldUntil: time.now(), place: 0 };
      const behind = (last: typeof now | null): number[] => {
        const { heldUntil, place } = last ?? now;
        return [deviceId, heldUntil, place];
      };
      for await (const page of store.pages(HELD, behind))
        for (const { chat, heldUntil } of page) set(chat, heldUntil);
    },

    holds(chat) {
      const hold = held.get(chat);
      if (hold === undefined) return false;
      if (!isOver(hold)) return true;
      held.delete(chat);
      return false;
    },

    keep(chat, seconds) {
      const until = seconds > 0 ? time.now() + seconds * 1000 : null;
      if (until === null) held.delete(chat);
      else set(chat, until);
      return { sql: KEEP, args: [deviceId, chat, until] };
    },

    forget: () => held.clear(),

    onClockMoved(ms) {
      const ahead = time.now() + ms / 2;
      for (const hold of held.values()) if (hold.until > ahead) hold.until -= ms;
    },
  };
}

/** `hold` of an accepted answer: the chat stays with the webhook, or is let go. */
export function heldBy(holds: Pick<Holds, "keep">, attempt: Attempt, delivery: Delivery): Statement[] {
  const seconds = attempt.parsed?.hold ?? null;
  return seconds === null || !delivery.mayReply ? [] : [holds.keep(delivery.chat, seconds)];
}
