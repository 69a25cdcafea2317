import type { Logger } from "../../../log.ts";
import { isWorthLogging } from "../../../store/write/owned.ts";
import type { ReachoutLock } from "../../../whatsapp/port.ts";
import type { RateLimitBackoff } from "./backoff.ts";
import type { Reachout } from "./reachout.ts";
import type { Sender } from "../sender.ts";
import type { Unsendable } from "../unsendable.ts";
import type { WarmUp } from "./warm-up.ts";

/** Chats whose next message waits for WhatsApp's media service. */
export interface MediaWait {
  /** Unix milliseconds. */
  since: number;
  chats: number;
  /** What was last heard of the service, a sentence for people. */
  reason: string;
}

/** What keeps a number from sending. */
export interface Holdups {
  /** WhatsApp lets the number write to nobody for the first time; null when it does. */
  reachoutLock: Reachout["current"];
  /** WhatsApp has told of a lock by itself, or of its end. Never rejects. */
  reachoutTold(lock: ReachoutLock | null): Promise<void>;
  /** Until when nothing is sent because WhatsApp has answered 429, Unix milliseconds; null: it is. */
  pausedUntil: RateLimitBackoff["until"];
  /** What waits because WhatsApp's media service takes no files; null when nothing does. */
  waitsForMedia(): MediaWait | null;
  /** How many people it may write to for the first time today; null: it is not warming up. */
  warmUp: WarmUp["today"];
  /** The clock was set back by so many milliseconds. */
  onClockMoved: Reachout["onClockMoved"];
}

interface HoldingParts {
  reachout: Reachout;
  backoff: RateLimitBackoff;
  warmUp: WarmUp;
  sender: Sender;
  failFirstContacts: Unsendable["failFirstContacts"];
}

/** Joins what may hold one number up. */
export function holdups(
  { reachout, backoff, warmUp, sender, failFirstContacts }: HoldingParts,
  deviceId: number,
  log: Logger,
): Holdups {
  return {
    onClockMoved: reachout.onClockMoved,
    reachoutLock: reachout.current,
    async reachoutTold(lock) {
      await reachout.told(lock).catch((error: unknown) => {
        if (isWorthLogging(error))
          log.error({ err: error, device: deviceId }, "could not store a reach-out lock");
      });
      failFirstContacts();
    },
    pausedUntil: backoff.until,
    warmUp: warmUp.today,
    waitsForMedia: () => mediaWait(sender.mediaWaits()),
  };
}

/** What waits for the media service, told as one; null when nothing does. */
function mediaWait(waits: ReturnType<Sender["mediaWaits"]>): MediaWait | null {
  if (waits.length === 0) return null;
  const since = waits.reduce((first, wait) => Math.min(first, wait.since), Infinity);
  return { since, chats: waits.length, reason: waits.at(-1)!.reason };
}
