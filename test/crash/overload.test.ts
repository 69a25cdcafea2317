import { expect, inject, it } from "vitest";
import { LARGEST_GROWTH_MB, mostOvertaken, overload, type OverloadOptions } from "./overload.ts";

/** Short forms of `npm run crash -- --overload`. */
const SHORT: OverloadOptions = {
  messages: 240,
  contacts: 40,
  webhookMs: 200,
  withinMs: 300_000,
  entry: inject("serverEntry"),
};

it("more messages than the webhook can take: all answered once, in order, in turns, in bounded memory", async () => {
  const report = await overload(SHORT);

  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ messages: 480, lost: 0, duplicated: 0, outOfOrder: 0 });
  expect(report.overtaken).toBeLessThanOrEqual(3);
  expect(report.peakMb - report.idleMb).toBeLessThan(LARGEST_GROWTH_MB);
}, 420_000);

it.each(["refused", "503"] as const)(
  "the webhook away for the first half (%s): all answered once afterwards",
  async (away) => {
    const report = await overload({ ...SHORT, messages: 80, away, configuredAnew: true });

    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ messages: 160, lost: 0, duplicated: 0 });
  },
  420_000,
);

it("a chat that gets calls while another waits is seen", () => {
  const call = (chat: string, at: number, endedAt: number) => ({ chat, id: `${chat}${at}`, at, endedAt });
  const storedAt = new Map([["b9", 1]]);
  const calls = [call("a", 2, 3), call("a", 4, 5), call("a", 6, 7), call("b", 9, 10)];
  expect(mostOvertaken(calls, storedAt)).toBe(3);
});
