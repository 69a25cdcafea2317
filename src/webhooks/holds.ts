import { chatState } from "../../drizzle/schema.ts";
import { defineTopic } from "../model/nodes/cluster.ts";
import { NO_NEWS, type News } from "../model/nodes/news.ts";
import { DAY_MS } from "../model/time.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { Attempt } from "./attempts/deliver.ts";
import type { Delivery } from "./rows.ts";

/** Chats that a webhook keeps for itself (`hold: seconds`), so that no bot's keyword cuts into its dialogue. */
export interface Holds {
  /** Reads what is held. Call it before the first message. */
  load(): Promise<void>;
  holds(deviceId: number, chat: string): boolean;
  /** Holds from now on, 0 lets go; in force at once, kept by the statements. */
  keep(deviceId: number, chat: string, seconds: number): Statement[];
  /** Lets all chats of a number go in the table; {@link Holds.forget} does so in memory. */
  letGo(deviceId: number): Statement;
  /** The webhook is gone, and what the table held with it. */
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds: what is held is not held longer for it. */
  onClockMoved(ms: number): void;
}

const KEEP = `insert into chat_state (device_id, chat, held_until) values (?, ?, ?)
  on conflict (device_id, chat) do update set held_until = excluded.held_until`;

const HELD = defineQuery(
  `select rowid as place, device_id, chat, held_until as heldUntil from chat_state indexed by chat_state_held
    where held_until is not null and (held_until, device_id, rowid) > (?, ?, ?)
    order by held_until, device_id, rowid limit ?`,
  { place: integer(), deviceId: chatState.deviceId, chat: chatState.chat, heldUntil: integer() },
);
const HELD_CHAT = defineQuery(
  "select held_until as heldUntil from chat_state where device_id = ? and chat = ? and held_until is not null",
  { heldUntil: integer() },
);
/** A webhook holds a chat, or lets it go. */
const HOLDS = defineTopic<{ deviceId: number; chat: string }>("holds");
/** As far as a clock may have been set back since: what is over by more needs no letting go. */
const OVER_FOR_CERTAIN_MS = DAY_MS;
const LET_GO = `update chat_state indexed by chat_state_held set held_until = null
  where held_until > ?1 and device_id = ?2`;

/** By both clocks, whichever is first: the host's may be set back, and the other one knows nothing of the last run. */
interface Hold {
  /** Unix milliseconds. */
  until: number;
  /** As `Time.monotonic`. */
  deadline: number;
}

/** Numbers of holds at which those that are over are looked for; doubled by what is left. */
const FIRST_PRUNING = 1_000;

/** Holds nothing until `load` has read what the last run left. */
export function createHolds(store: Pick<Store, "readOne" | "pages" | "time">, news: News = NO_NEWS): Holds {
  const { time } = store;
  /** Number → chat. In memory: every message asks. */
  const held = new Map<number, Map<string, Hold>>();
  let added = 0;
  let pruneAt = FIRST_PRUNING;

  const isOver = ({ until, deadline }: Hold): boolean => time.now() >= until || time.monotonic() >= deadline;

  function set(deviceId: number, chat: string, until: number): void {
    const chats = held.get(deviceId) ?? new Map<string, Hold>();
    const deadline = time.monotonic() + until - time.now();
    held.set(deviceId, chats.set(chat, { until, deadline }));
    if (++added >= pruneAt) prune();
  }

  function prune(): void {
    added = 0;
    for (const chats of held.values()) {
      for (const [chat, hold] of chats) if (isOver(hold)) chats.delete(chat);
      added += chats.size;
    }
    pruneAt = Math.max(FIRST_PRUNING, 2 * added);
  }

  async function load(): Promise<void> {
    const now = { heldUntil: time.now(), deviceId: Number.MAX_SAFE_INTEGER, place: 0 };
    const behind = (last: typeof now | null): number[] => {
      const { heldUntil, deviceId, place } = last ?? now;
      return [heldUntil, deviceId, place];
    };
    for await (const page of store.pages(HELD, behind))
      for (const { deviceId, chat, heldUntil } of page) set(deviceId, chat, heldUntil);
  }

  news.listen(HOLDS, {
    async hear({ deviceId, chat }) {
      const row = await store.readOne(HELD_CHAT, [deviceId, chat]);
      if (row === null) held.get(deviceId)?.delete(chat);
      else set(deviceId, chat, row.heldUntil);
    },
    async reread() {
      held.clear();
      await load();
    },
  });

  return {
    load,

    holds(deviceId, chat) {
      const hold = held.get(deviceId)?.get(chat);
      if (hold === undefined) return false;
      if (!isOver(hold)) return true;
      held.get(deviceId)!.delete(chat);
      return false;
    },

    keep(deviceId, chat, seconds) {
      const until = seconds > 0 ? time.now() + seconds * 1000 : null;
      if (until === null) held.get(deviceId)?.delete(chat);
      else set(deviceId, chat, until);
      return [{ sql: KEEP, args: [deviceId, chat, until] }, ...news.of(HOLDS, { deviceId, chat })];
    },

    letGo: (deviceId) => ({ sql: LET_GO, args: [time.now() - OVER_FOR_CERTAIN_MS, deviceId] }),
    forget: (deviceId) => void held.delete(deviceId),

    onClockMoved(ms) {
      const ahead = time.now() + ms / 2;
      for (const chats of held.values())
        for (const hold of chats.values()) if (hold.until > ahead) hold.until -= ms;
    },
  };
}

/** `hold` of an accepted answer: the chat stays with the webhook, or is let go. */
export function heldBy(holds: Pick<Holds, "keep">, attempt: Attempt, delivery: Delivery): Statement[] {
  const seconds = attempt.parsed?.hold ?? null;
  return seconds === null || !delivery.mayReply ? [] : holds.keep(delivery.deviceId, delivery.chat, seconds);
}
