import type { Logger } from "../../../log.ts";
import { devices } from "../../../../drizzle/schema.ts";
import { DAY_MS } from "../../../model/time.ts";
import { createAllowances, type Allowance } from "../../../store/allowances.ts";
import { defineQuery } from "../../../store/query.ts";
import type { Store } from "../../../store/store.ts";
import type { Reachout } from "./reachout.ts";
import type { QueuedMessage } from "../chats.ts";

/** How many people a number that was linked lately may write to for the first time on the day that runs. */
export interface WarmUpDay {
  /** 1 is the day of its linking. */
  day: number;
  limit: number;
  used: number;
  /** When the next day begins, Unix milliseconds. */
  resetsAt: number;
}

/**
 * A number that writes to many strangers in its first days is one that WhatsApp blocks: it begins with few first contacts a
 * day. Whoever wrote to it, and whoever it wrote to already, is no first contact.
 */
export interface WarmUp {
  /** Reads when the number was linked. Never rejects: it is read again before anybody is written to for the first time. */
  look(): Promise<void>;
  /** Whether this message has to be asked about before it leaves. */
  asks(message: QueuedMessage): boolean;
  /**
   * Takes one of the day's first contacts if the message would be one.
   *
   * @returns 0: it may leave; else the milliseconds until the next day begins
   * @throws StorageUnavailable
   */
  waitMs(message: QueuedMessage): Promise<number>;
  /** Null: the number is not warming up. */
  today(): WarmUpDay | null;
}

/** Days after the linking. Day 1 has 20 first contacts, each later day 20 more: 200 on the tenth. */
export const WARM_UP_DAYS = 10;
export const WARM_UP_STEP = 20;
const PERSON = /@(s\.whatsapp\.net|lid)$/;
const LINKED = defineQuery("SELECT linked_at FROM devices WHERE id = ?", { linkedAt: devices.linkedAt });

interface WarmUpDeps {
  deviceId: number;
  store: Pick<Store, "readOne" | "writer" | "now">;
  reachout: Pick<Reachout, "isFirstContact">;
  /** The setting: without it nobody waits. */
  isOn: boolean;
  log: Logger;
}

const allowanceOf = ({ since, most }: { since: number; most: number }): Allowance => ({
  kind: "first_contacts",
  most,
  // What was used at the very moment at which the day began is of that day.
  since: since - 1,
});

/** Of one number. What was used is in the database: a restart gives nothing back. */
export function createWarmUp({ deviceId, store, reachout, isOn, log }: WarmUpDeps): WarmUp {
  const allowances = createAllowances(store);
  let linkedAt: number | null = null;
  let used = { since: 0, count: 0 };

  /** When the day began, and what it has; null: the number is past it. */
  function dayAt(now: number): { day: number; since: number; most: number } | null {
    if (!isOn || linkedAt === null || now >= linkedAt + WARM_UP_DAYS * DAY_MS) return null;
    // A clock that was set back makes no day before the first.
    const passed = Math.max(0, Math.floor((now - linkedAt) / DAY_MS));
    return { day: passed + 1, since: linkedAt + passed * DAY_MS, most: (passed + 1) * WARM_UP_STEP };
  }

  async function readLinked(): Promise<ReturnType<typeof dayAt>> {
    linkedAt = (await store.readOne(LINKED, [deviceId]))?.linkedAt ?? null;
    return dayAt(store.now());
  }

  async function countUsed(today: NonNullable<ReturnType<typeof dayAt>>): Promise<void> {
    used = { since: today.since, count: await allowances.used(deviceId, allowanceOf(today)) };
  }

  return {
    async look() {
      try {
        const today = isOn ? await readLinked() : null;
        if (today !== null) await countUsed(today);
      } catch (error) {
        log.warn({ err: error, device: deviceId }, "could not read when the number was linked");
      }
    },

    asks: ({ jid, isReply, isWarm }) => isOn && !isWarm && !isReply && PERSON.test(jid),

    async waitMs({ chat }) {
      const today = await readLinked();
      if (today === null || !(await reachout.isFirstContact(chat))) return 0;
      const resetsIn = Math.max(1, today.since + DAY_MS - store.now());
      // Nothing is given back before the day ends: thousands that wait ask the database no more.
      if (used.since === today.since && used.count >= today.most) return resetsIn;
      const isTaken = await allowances.take(deviceId, allowanceOf(today));
      await countUsed(today);
      return isTaken ? 0 : resetsIn;
    },

    today() {
      const today = dayAt(store.now());
      if (today === null) return null;
      const { day, since, most } = today;
      return { day, limit: most, used: used.since === since ? used.count : 0, resetsAt: since + DAY_MS };
    },
  };
}
