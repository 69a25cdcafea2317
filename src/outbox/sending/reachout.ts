import { reachoutLocks } from "../../../drizzle/schema.ts";
import { HOUR_MS } from "../../model/time.ts";
import { boolean, defineQuery } from "../../store/query.ts";
import { NO_INTAKE } from "../../store/write/intake.ts";
import type { Store } from "../../store/store.ts";
import type { ReachoutLock } from "../../whatsapp/port.ts";
import type { QueuedRow, SendError } from "../rows.ts";
import type { StateListener } from "../state-news.ts";

/**
 * WhatsApp's reach-out lock: after error 463 a number may not write to people for the first time. Asking again makes it
 * worse, so such messages fail here until the lock ends. Chats that are known go on.
 */
export interface Reachout {
  /** Reads the locks that a restart must not forget. */
  load(): Promise<void>;
  /** The same of one number that another process had. */
  reread(deviceId: number): Promise<void>;
  isLocked(deviceId: number): boolean;
  /**
   * @param until milliseconds; undefined when WhatsApp named no time: 60 minutes from now
   * @param reason WhatsApp's word for it; undefined when it gave none
   */
  lock(deviceId: number, until: number | undefined, reason?: string): Promise<void>;
  /** WhatsApp has told of a lock by itself, or that it has ended one (null). */
  told(deviceId: number, lock: ReachoutLock | null): Promise<void>;
  /** The lock that holds now; null when none does. */
  current(deviceId: number): ReachoutLock | null;
  /** What to tell senders while the lock holds. */
  error(deviceId: number): SendError;
  /** Whether the lock stands in this message's way: it is no reply, and its chat would be a first contact. */
  holdsBack(message: Pick<QueuedRow, "deviceId" | "chat" | "isReply">): Promise<boolean>;
  /** The clock was set back by so many milliseconds: no lock lasts longer for it. */
  onClockMoved(ms: number): void;
}

const DEFAULT_LOCK_MS = HOUR_MS;

const LOCKS = defineQuery("SELECT device_id, until, reason FROM reachout_locks WHERE until > ?", {
  deviceId: reachoutLocks.deviceId,
  until: reachoutLocks.until,
  reason: reachoutLocks.reason,
});
const LOCK_OF = defineQuery("SELECT until, reason FROM reachout_locks WHERE device_id = ? AND until > ?", {
  until: reachoutLocks.until,
  reason: reachoutLocks.reason,
});
const LOCK = `INSERT INTO reachout_locks (device_id, until, reason) VALUES (?, ?, ?)
ON CONFLICT (device_id) DO UPDATE SET until = excluded.until, reason = excluded.reason`;
const UNLOCK = "DELETE FROM reachout_locks WHERE device_id = ?";
// A chat has a state as soon as the other side, or the owner by hand, wrote in it. Somebody who wrote under a LID is no
// stranger under the number that was learnt of later.
const KNOWN = defineQuery(
  `WITH names(chat) AS (SELECT ?2
UNION ALL SELECT lid_user || '@lid' FROM lid_map WHERE device_id = ?1 AND pn_user = ?3
UNION ALL SELECT pn_user || '@s.whatsapp.net' FROM lid_map WHERE device_id = ?1 AND lid_user = ?3)
SELECT 1 AS known FROM chat_state WHERE device_id = ?1 AND chat IN (SELECT chat FROM names)
UNION ALL SELECT 1 FROM outbox INDEXED BY outbox_unasked
  WHERE device_id = ?1 AND chat IN (SELECT chat FROM names) AND is_reply = 0
AND state IN ('sent', 'delivered', 'read', 'played') LIMIT 1`,
  { known: boolean() },
);

/**
 * Locks of all numbers in memory, with the last time of each in the database.
 *
 * @param listener is told of each lock
 */
export function createReachout(store: Store, listener?: StateListener): Reachout {
  const locks = new Map<number, ReachoutLock>();

  function isLocked(deviceId: number): boolean {
    return (locks.get(deviceId)?.until ?? 0) > store.now();
  }

  const current = (deviceId: number): ReachoutLock | null =>
    isLocked(deviceId) ? locks.get(deviceId)! : null;

  async function change(deviceId: number, lock: ReachoutLock | null): Promise<void> {
    // In memory first: whatever the database says, nobody new is written to.
    if (lock === null) locks.delete(deviceId);
    else locks.set(deviceId, lock);
    listener?.reachout?.(deviceId, current(deviceId));
    const told = (await listener?.locked(deviceId, lock?.until ?? null)) ?? NO_INTAKE;
    const stored =
      lock === null
        ? { sql: UNLOCK, args: [deviceId] }
        : { sql: LOCK, args: [deviceId, lock.until, lock.reason] };
    const [, ...results] = await store.writer.commit([stored, ...told.statements], { owning: deviceId });
    told.committed(results);
  }

  /** Whether nobody in this chat ever wrote to us and nothing of ours was ever accepted there. */
  async function isFirstContact(deviceId: number, chat: string): Promise<boolean> {
    if (!chat.endsWith("@s.whatsapp.net") && !chat.endsWith("@lid")) return false;
    return (await store.readOne(KNOWN, [deviceId, chat, chat.replace(/@.*/s, "")])) === null;
  }

  return {
    async load() {
      for (const { deviceId, ...lock } of await store.read(LOCKS, [store.now()])) locks.set(deviceId, lock);
    },

    async reread(deviceId) {
      locks.delete(deviceId);
      for (const { until, reason } of await store.read(LOCK_OF, [deviceId, store.now()]))
        locks.set(deviceId, { until, reason });
    },

    isLocked,

    lock: (deviceId, until = store.now() + DEFAULT_LOCK_MS, reason) =>
      change(deviceId, { until, reason: reason ?? null }),

    async told(deviceId, lock) {
      const known = current(deviceId);
      if (lock?.until === known?.until && lock?.reason === known?.reason) return;
      await change(deviceId, lock);
    },

    current,

    error(deviceId) {
      const until = locks.get(deviceId)?.until;
      return {
        code: "REACHOUT_LOCKED",
        ...(until !== undefined && { until: new Date(until).toISOString() }),
      };
    },

    onClockMoved(ms) {
      const ahead = store.now() + ms / 2;
      for (const [deviceId, lock] of locks)
        if (lock.until > ahead) locks.set(deviceId, { ...lock, until: lock.until - ms });
    },

    holdsBack: async ({ deviceId, chat, isReply }) =>
      !isReply && isLocked(deviceId) && (await isFirstContact(deviceId, chat)),
  };
}
