import { expect, it } from "vitest";
import { createAlarm } from "../../../src/bot/timers/alarm.ts";
import { DAY_MS } from "../../../src/model/time.ts";
import { manualClock } from "../outbox/harness.ts";

it("rings at the earliest time that was announced, before or after its start, and not once it is stopped", async () => {
  const clock = manualClock();
  const start = clock.now();
  const rung: number[] = [];
  const alarm = createAlarm(clock.time, () => rung.push(clock.now() - start));
  alarm.expect(start + 5_000);
  alarm.expect(start + 8_000);
  alarm.start();
  alarm.expect(start + 1_000);

  await clock.advance(2_000);
  expect(rung).toEqual([1_000]);
  alarm.expect(start + 6_000);
  await clock.advance(5_000);
  expect(rung).toEqual([1_000, 6_000]);

  alarm.expect(start + 9_000);
  alarm.stop();
  await clock.advance(10_000);
  expect(rung).toHaveLength(2);
});

it("waits for longer than a timer of Node can, in steps of a day", async () => {
  const clock = manualClock();
  const waits: number[] = [];
  const after: typeof clock.time.after = (ms, run) => (waits.push(ms), clock.time.after(ms, run));
  let rung = 0;
  const alarm = createAlarm({ now: clock.now, after }, () => rung++);
  alarm.start();
  alarm.expect(clock.now() + 60 * DAY_MS);

  await clock.advance(59 * DAY_MS);
  expect(rung).toBe(0);
  await clock.advance(DAY_MS);

  expect(rung).toBe(1);
  expect(Math.max(...waits)).toBeLessThanOrEqual(DAY_MS);
});
