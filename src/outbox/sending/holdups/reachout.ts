import { HOUR_MS } from "../../../model/time.ts";
import { boolean, defineQuery } from "../../../store/query.ts";
import { NO_INTAKE } from "../../../store/write/intake.ts";
import type { Store } from "../../../store/store.ts";
import type { ReachoutLock } from "../../../whatsapp/port.ts";
import type { QueuedRow, SendError } from "../../rows.ts";
import type { StateListener } from "../../state-news.ts";
import type { OutboxEvent } from "../../outbox-event.ts";

/**
 * WhatsApp's reach-out lock: after error 463 a number may not write to people for the first time. Asking again makes it
 * worse, so such messages fail here until the lock ends. Chats that are known go on.
 */
export interface Reachout {
  /** As the last run, or another process, has left it. */
  restore(lock: ReachoutLock | null): void;
  isLocked(): boolean;
  /**
   * @param until milliseconds; undefined when WhatsApp named no time: 60 minutes from now
   * @param reason WhatsApp's word for it; undefined when it gave none
   */
  lock(until: number | undefined, reason?: string): Promise<void>;
  /** WhatsApp has told of a lock by itself, or that it has ended one (null). */
  told(lock: ReachoutLock | null): Promise<void>;
  /** The lock that holds now; null when none does. */
  current(): ReachoutLock | null;
  /** What to tell senders while the lock holds. */
  error(): SendError;
  /** Whether the lock stands in this message's way: it is no reply, and its chat would be a first contact. */
  holdsBack(message: Pick<QueuedRow, "chat" | "isReply">): Promise<boolean>;
  /** Nobody in this chat ever wrote to the number, and nothing of the number's was ever accepted there. */
  isFirstContact(chat: string): Promise<boolean>;
  /** The clock was set back by so many milliseconds: no lock lasts longer for it. */
  onClockMoved(ms: number): void;
}

const DEFAULT_LOCK_MS = HOUR_MS;

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

interface ReachoutDeps {
  deviceId: number;
  /** In the hands of whoever has the number. */
  store: Pick<Store, "readOne" | "writer" | "now">;
  /** Told of each lock. */
  listener?: StateListener | undefined;
  observe?: ((event: OutboxEvent) => void) | undefined;
}

/** One number, without a lock. */
export function createReachout(deps: ReachoutDeps): Reachout {
  const { deviceId, store, listener } = deps;
  let held: ReachoutLock | null = null;

  const isLocked = (): boolean => (held?.until ?? 0) > store.now();
  const current = (): ReachoutLock | null => (isLocked() ? held : null);

  async function change(lock: ReachoutLock | null): Promise<void> {
    // In memory first: whatever the database says, nobody new is written to.
    held = lock;
    deps.observe?.({ type: "reachout", deviceId, lock: current() });
    const told = (await listener?.locked(deviceId, lock?.until ?? null)) ?? NO_INTAKE;
    const stored =
      lock === null
        ? { sql: UNLOCK, args: [deviceId] }
        : { sql: LOCK, args: [deviceId, lock.until, lock.reason] };
    const [, ...results] = await store.writer.commit([stored, ...told.statements], { owning: deviceId });
    told.committed(results);
  }

  async function isFirstContact(chat: string): Promise<boolean> {
    if (!chat.endsWith("@s.whatsapp.net") && !chat.endsWith("@lid")) return false;
    return (await store.readOne(KNOWN, [deviceId, chat, chat.replace(/@.*/s, "")])) === null;
  }

  return {
    restore: (lock) => void (held = lock),
    isLocked,
    isFirstContact,

    lock: (until = store.now() + DEFAULT_LOCK_MS, reason) => change({ until, reason: reason ?? null }),

    async told(lock) {
      const before = current();
      if (lock?.until === before?.until && lock?.reason === before?.reason) return;
      await change(lock);
    },

    current,

    error: () => ({
      code: "REACHOUT_LOCKED",
      ...(held !== null && { until: new Date(held.until).toISOString() }),
    }),

    onClockMoved(ms) {
      if (held !== null && held.until > store.now() + ms / 2) held = { ...held, until: held.until - ms };
    },

    holdsBack: async ({ chat, isReply }) => !isReply && isLocked() && (await isFirstContact(chat)),
  };
}
