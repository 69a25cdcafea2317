import type { Logger } from "../log.ts";
import { DAY_MS, type Time } from "../model/time.ts";

/** So much of a jump is a machine that slept over night, and deletes nothing that another day would not. */
export const LARGEST_BELIEVED_JUMP_MS = DAY_MS;
/** How long Parley has to run on a doubted clock, with nobody to ask, until it believes it after all. */
const BELIEVED_AFTER_MS = 7 * DAY_MS;

/**
 * Whether the host's clock may decide that something is old enough to be deleted or forgotten, or due to be sent. A clock that is
 * a month ahead would make all of it old at once, and with it everything that keeps a message from being handled twice.
 */
export interface ClockTrust {
  isTrusted(): boolean;
  /** WhatsApp has told the time: it decides, for as long as nothing jumps. @param at Unix milliseconds */
  heard(at: number): void;
  /** The clock jumped ahead by more than it is believed. @param ranFor milliseconds that it was doubted before a restart */
  doubt(ranFor?: number): void;
  /** So many milliseconds of real time have passed, and the clock as it stands was looked at: what it did before has been judged. */
  passed(ms: number): void;
  /** Milliseconds of running since it is doubted; null when it is trusted. */
  doubtedFor(): number | null;
}

/** Trusts until something speaks against it. */
export function createClockTrust(
  { now, monotonic }: Pick<Time, "now" | "monotonic">,
  log: Logger,
): ClockTrust {
  let doubted: number | null = null;
  /** The clock minus the steady one when it was looked at; null while nobody looks. */
  let offset: number | null = null;

  /** Between two looks at it. */
  const hasJumped = (): boolean => offset !== null && now() - monotonic() - offset > LARGEST_BELIEVED_JUMP_MS;

  return {
    isTrusted: () => doubted === null && !hasJumped(),
    heard(at) {
      const aheadMs = now() - at;
      const days = Math.round(aheadMs / DAY_MS);
      if (Math.abs(aheadMs) > LARGEST_BELIEVED_JUMP_MS) {
        if (doubted === null)
          log.error(
            { days },
            "according to WhatsApp, the clock is wrong by days; set it. Until then, no old data is deleted, and nothing scheduled is sent",
          );
        doubted = 0;
      } else if (doubted !== null) {
        log.info("WhatsApp confirms the clock; old data is deleted again, and scheduled messages are sent");
        doubted = null;
      }
    },
    doubt(ranFor = 0) {
      doubted = ranFor;
      log.warn(
        "the clock jumped ahead by more than a day; no old data is deleted and nothing scheduled is sent until WhatsApp confirms the time",
      );
    },
    passed(ms) {
      offset = now() - monotonic();
      if (doubted === null) return;
      doubted += ms;
      if (doubted >= BELIEVED_AFTER_MS) doubted = null;
    },
    doubtedFor: () => doubted,
  };
}
