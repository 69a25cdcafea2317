import { DAY_MS, type Cancel, type Time } from "../../model/time.ts";

/** Wakes whoever runs the timers of a number's bots. It stands between those who set timers and the one who runs them. */
export interface Alarm {
  /** A timer is stored, and due then, Unix milliseconds. */
  expect(dueAt: number): void;
  /** The clock was set back by so many milliseconds, and the timers with it. */
  onClockMoved(ms: number): void;
  /** Rings from now on whenever a time has come, which is then expected no longer. */
  start(): void;
  stop(): void;
}

/** Longer waits are made of several: a timer of Node takes at most 24 days, and one that is longer ends at once. */
const LATEST_MS = DAY_MS;

/** An alarm that expects nothing yet; a time that comes before it is started rings then. */
export function createAlarm(time: Pick<Time, "now" | "after">, ring: () => void): Alarm {
  let dueAt = Infinity;
  let started = false;
  let planned: { at: number; cancel: Cancel } | null = null;

  function plan(): void {
    if (!started || dueAt >= (planned?.at ?? Infinity)) return;
    planned?.cancel();
    const ms = Math.min(LATEST_MS, Math.max(0, dueAt - time.now()));
    planned = { at: dueAt, cancel: time.after(ms, look) };
  }

  function look(): void {
    planned = null;
    if (dueAt > time.now()) return plan();
    dueAt = Infinity;
    ring();
  }

  return {
    expect(at) {
      dueAt = Math.min(dueAt, at);
      plan();
    },
    onClockMoved: (ms) => void (dueAt -= ms),
    start() {
      started = true;
      plan();
    },
    stop() {
      started = false;
      planned?.cancel();
      planned = null;
    },
  };
}
