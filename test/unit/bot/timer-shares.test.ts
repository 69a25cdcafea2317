import { expect, it } from "vitest";
import { createTimers } from "../../../src/bot/timers/timers.ts";
import type { TimersDeps, TimersNumber } from "../../../src/bot/timers/number-timers.ts";
import type { DueTimer } from "../../../src/bot/timers/timer-rows.ts";
import { manualClock } from "../outbox/harness.ts";

const ACCOUNTS = (deviceId: number): string => (deviceId < 100 ? "many" : "few");

it("an account's number fires, however many numbers of another account are at it", async () => {
  const clock = manualClock();
  const fired = new Set<number>();
  // Nothing is left of these timers but that they are to be deleted.
  const due = (deviceId: number): DueTimer[] => [
    { id: deviceId, deviceId, botId: "a", key: "k", dueAt: clock.now(), body: null },
  ];
  const timers = createTimers({
    state: {
      dueTimers: async (deviceId: number) => (fired.has(deviceId) ? [] : due(deviceId)),
      nextTimers: async () => new Map(),
    },
    time: clock.time,
    accountOf: ACCOUNTS,
    onDropped: ({ deviceId }: { deviceId: number }) => fired.add(deviceId),
  } as unknown as TimersDeps);
  const open = (deviceId: number, committed: Promise<unknown>): void =>
    timers.open({ deviceId, commit: () => committed } as unknown as TimersNumber).expect(clock.now());
  timers.start();

  let end!: (results: []) => void;
  const slow = new Promise((resolve) => (end = resolve));
  for (let deviceId = 1; deviceId <= 40; deviceId++) open(deviceId, slow);
  open(100, Promise.resolve([]));
  await clock.advance(1);
  await expect.poll(() => [...fired]).toEqual([100]);

  end([]);
  await clock.advance(1);
  await expect.poll(() => fired.size).toBe(41);
});
