import { DAY_MS, type Cancel, type Time } from "../../model/time.ts";

/** Wakes whoever runs the timers of bots. It stands between those who set timers and the one who runs them. */
export interface Alarm {
  /** A timer of this number is stored, and due then, Unix milliseconds. */
  expect(deviceId: number, dueAt: number): void;
  /** Numbers whose time has come. They are expected no longer. */
  take(): number[];
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds, and the timers with it. */
  onClockMoved(ms: number): void;
  /** Rings from now on whenever a time has come. The result ends it. */
  ring(run: () => void): Cancel;
}

/** Longer waits are made of several: a timer of Node takes at most 24 days, and one that is longer ends at once. */
const LATEST_MS = DAY_MS;

/** An alarm that expects nothing yet; times that come before anybody listens ring once somebody does. */
export function createAlarm(time: Pick<Time, "now" | "after">): Alarm {
  const dueAt = new Map<number, number>();
  let run: (() => void) | null = null;
  let cancel: Cancel | null = null;
  let ringsAt = Infinity;

  function plan(at: number): void {
    if (run === null || at >= ringsAt) return;
    cancel?.();
    ringsAt = at;
    const ms = Math.min(LATEST_MS, Math.max(0, at - time.now()));
    cancel = time.after(ms, () => {
      ringsAt = Infinity;
      cancel = null;
      run?.();
    });
  }

  return {
    expect(deviceId, at) {
      dueAt.set(deviceId, Math.min(at, dueAt.get(deviceId) ?? Infinity));
      plan(at);
    },
    take() {
      const now = time.now();
      const due = [...dueAt].filter(([, at]) => at <= now).map(([deviceId]) => deviceId);
      for (const deviceId of due) dueAt.delete(deviceId);
      for (const at of dueAt.values()) plan(at);
      return due;
    },
    forget: (deviceId) => void dueAt.delete(deviceId),
    onClockMoved(ms) {
      for (const [deviceId, at] of dueAt) dueAt.set(deviceId, at - ms);
    },
    ring(then) {
      run = then;
      for (const at of dueAt.values()) plan(at);
      return () => {
        run = null;
        cancel?.();
      };
    },
  };
}
