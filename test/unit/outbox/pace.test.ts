import { describe, expect, it } from "vitest";
import { createPace } from "../../../src/outbox/sending/holdups/pace.ts";
import { jid, manualClock, reply, scriptedLine, startRun, submitTo, wroteAt } from "./harness.ts";

const DAY = 24 * 60 * 60 * 1000;

describe("pacing", () => {
  it("lets 20 messages go at once and then as many a minute as the setting says", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { PACE_PER_MINUTE: "60", SEND_WAIT_MS: "0" } });
    const line = scriptedLine();
    await run.connect(line);
    for (let index = 0; index < 30; index++) await submitTo(run.outbox, [4915100 + index], "bulk");

    await clock.advance(0);
    expect(line.sent).toHaveLength(20);
    await clock.advance(999);
    expect(line.sent).toHaveLength(20);
    await clock.advance(1);
    expect(line.sent).toHaveLength(21);
    await clock.advance(4_000);
    expect(line.sent).toHaveLength(25);
  });

  it("does not hold up replies, nor sends to who wrote within 24 hours", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { PACE_PER_MINUTE: "1", SEND_WAIT_MS: "0" } });
    await wroteAt(run.store, jid(4915001), clock.now() - DAY + 1000);
    await wroteAt(run.store, jid(4915002), clock.now() - DAY);
    const line = scriptedLine();
    await run.connect(line);
    for (let index = 0; index < 20; index++) await submitTo(run.outbox, [4915100 + index], "bulk");

    await submitTo(run.outbox, [4915001, 4915002], "to who wrote");
    await reply(run, 1, jid(4915003), ["reply"]);
    await clock.advance(0);

    expect(line.texts(jid(4915001))).toEqual(["to who wrote"]);
    expect(line.texts(jid(4915002))).toEqual([]);
    expect(line.texts(jid(4915003))).toEqual(["reply"]);
  });

  it("is off when the setting is 0", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { PACE_PER_MINUTE: "0", SEND_WAIT_MS: "0" } });
    const line = scriptedLine();
    await run.connect(line);
    for (let index = 0; index < 50; index++) await submitTo(run.outbox, [4915100 + index], "bulk");

    await clock.advance(0);

    expect(line.sent).toHaveLength(50);
  });

  it("gives a token back to the millisecond at any pace", () => {
    for (const perMinute of [1, 7, 33, 60, 999]) {
      const pace = createPace(perMinute, 0);
      for (let token = 0; token < 20; token++) expect(pace.take(0)).toBe(true);
      expect(pace.take(0)).toBe(false);
      const wait = pace.waitMs(0);
      expect(pace.take(wait - 1)).toBe(false);
      expect(pace.take(wait)).toBe(true);
    }
  });
});
