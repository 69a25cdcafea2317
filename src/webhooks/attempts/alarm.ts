import { DAY_MS, type Cancel, type Time } from "../../model/time.ts";

/** Wakes somebody once at the earliest of the times that it is asked for. */
export interface Alarm {
  /** In so many milliseconds at the latest: an earlier time that is planned stays. Infinity: there is no need. */
  by(ms: number): void;
  /** Whatever is asked for, it does not wake before so many milliseconds have passed. */
  notWithin(ms: number): void;
  stop(): void;
}

/** No timer is set for longer; who is woken too early looks when the next is due. */
const LONGEST_PAUSE_MS = DAY_MS;

/** Wakes nobody before it is asked to. */
export function createAlarm(
  { after, monotonic }: Pick<Time, "after" | "monotonic">,
  wake: () => void,
): Alarm {
  let planned: { at: number; cancel: Cancel } | null = null;
  let troubleUntil = Number.NEGATIVE_INFINITY;

  function set(at: number): void {
    planned?.cancel();
    const cancel = after(Math.min(Math.max(0, at - monotonic()), LONGEST_PAUSE_MS), () => {
      planned = null;
      wake();
    });
    planned = { at, cancel };
  }

  return {
    by(ms) {
      const at = Math.max(monotonic() + Math.max(0, ms), troubleUntil);
      if (at < (planned?.at ?? Infinity)) set(at);
    },
    notWithin(ms) {
      troubleUntil = monotonic() + ms;
      if (planned !== null && planned.at < troubleUntil) set(troubleUntil);
    },
    stop() {
      planned?.cancel();
      planned = null;
    },
  };
}
