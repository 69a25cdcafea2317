import { expect, it } from "vitest";
import { createAlarm } from "../../../src/bot/timers/alarm.ts";
import { DAY_MS } from "../../../src/model/time.ts";
import { manualClock } from "../outbox/harness.ts";

it("rings for the next time of each number, whoever announces it, and for nobody who is forgotten", async () => {
  const clock = manualClock();
  const alarm = createAlarm(clock.time);
  const rung: [afterMs: number, due: number[]][] = [];
  const start = clock.now();
  alarm.expect(1, start + 5_000);
  alarm.ring(() => rung.push([clock.now() - start, alarm.take()]));
  alarm.expect(2, start + 1_000);
  alarm.expect(3, start + 2_000);
  alarm.forget(3);

  await clock.advance(10_000);

  expect(rung.filter(([, due]) => due.length > 0)).toEqual([
    [1_000, [2]],
    [5_000, [1]],
  ]);
});

it("waits for longer than a timer of Node can, in steps of a day", async () => {
  const clock = manualClock();
  const waits: number[] = [];
  const after: typeof clock.time.after = (ms, run) => (waits.push(ms), clock.time.after(ms, run));
  const alarm = createAlarm({ now: clock.now, after });
  const due: number[] = [];
  alarm.ring(() => due.push(...alarm.take()));
  alarm.expect(1, clock.now() + 60 * DAY_MS);

  await clock.advance(59 * DAY_MS);
  expect(due).toEqual([]);
  await clock.advance(DAY_MS);

  expect(due).toEqual([1]);
  expect(Math.max(...waits)).toBeLessThanOrEqual(DAY_MS);
});
