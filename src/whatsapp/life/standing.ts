import type { ConnectionState, WASocket } from "@whiskeysockets/baileys";
import { HOUR_MS, SECOND_MS, type Time } from "../../model/time.ts";
import type { ConnectionListener, NewChats, ReachoutLock } from "../port.ts";
import { secondsIn } from "../stanza-numbers.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";

/** A lock that WhatsApp gives no reason for. */
const UNNAMED_LOCK = "DEFAULT";
/** A message that was refused waits so long for the end of the lock. */
const PATIENCE_MS = 3 * SECOND_MS;
/** WhatsApp tells of changes by itself. */
const ASKED_EVERY_MS = 12 * HOUR_MS;

/** What standing takes. */
interface StandingDeps {
  time: Pick<Time, "now" | "within">;
  memory: Pick<DeviceMemory, "standing">;
  listener: Pick<ConnectionListener, "tell">;
}

/** What WhatsApp lets an account do, as far as it has told. */
export interface Standing {
  /** The lock on first contacts that holds now; null when WhatsApp names none. Asks, and waits three seconds at most. */
  lockNow(): Promise<ReachoutLock | null>;
  /** The connection is open: asks, unless it was asked lately. */
  opened(): void;
}

/** Mirrors what WhatsApp tells of first contacts: in answers, and by notifications of its own (`mex`). */
export function createStanding(socket: WASocket, { time, memory, listener }: StandingDeps): Standing {
  let lock: ReachoutLock | null = null;
  let asking: Promise<void> | null = null;

  socket.ev.on("connection.update", ({ reachoutTimeLock }: Partial<ConnectionState>) => {
    if (!reachoutTimeLock) return;
    const { isActive, timeEnforcementEnds: end, enforcementType: type } = reachoutTimeLock;
    const reason = type === undefined || String(type) === UNNAMED_LOCK ? null : type;
    lock = isActive && end !== undefined ? { until: end.getTime(), reason } : null;
    // An answer that names no lock ends none: error 463 was believed without one.
    if (lock !== null || asking === null) listener.tell({ type: "lock", lock });
  });
  socket.ev.on("message-capping.update", (told) => noteQuota(told));

  function noteQuota(told: unknown): void {
    const quota = newChatsIn(told);
    if (quota !== null) listener.tell({ type: "newChats", quota });
  }

  function ask(): Promise<void> {
    asking ??= Promise.allSettled([
      socket.fetchAccountReachoutTimelock(),
      socket.fetchNewChatMessageCap().then(noteQuota),
    ])
      .then(() => void (memory.standing.askedAt = time.now()))
      .finally(() => (asking = null));
    return asking;
  }

  return {
    async lockNow() {
      if (lock === null || lock.until <= time.now()) await time.within(PATIENCE_MS, ask());
      return lock;
    },
    opened() {
      if (time.now() - memory.standing.askedAt >= ASKED_EVERY_MS) void ask();
    },
  };
}

/** What a word of Baileys' and of WhatsApp's GraphQL says of new chats. */
interface Capping {
  total_quota?: unknown;
  used_quota?: unknown;
  cycle_end_timestamp?: unknown;
  capping_status?: unknown;
}

const whole = (value: unknown): number | null => {
  const number = typeof value === "string" && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
};

/** Null when it says nothing that can be told. A quota below zero is none. */
function newChatsIn(told: unknown): NewChats | null {
  const {
    total_quota: total,
    used_quota: used,
    cycle_end_timestamp: end,
    capping_status: status,
  } = Object(told) as Capping;
  const quota = whole(total);
  if (quota === null) return null;
  const seconds = secondsIn(end === undefined || end === null ? undefined : String(end));
  const limit = quota < 0 ? null : quota;
  const count = Math.max(0, whole(used) ?? 0);
  return {
    limit,
    used: count,
    resetsAt: seconds > 0 ? seconds * SECOND_MS : null,
    isUsedUp: status === "CAPPED" || (limit !== null && count >= limit),
  };
}
