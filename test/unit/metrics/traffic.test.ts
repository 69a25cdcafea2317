import { describe, expect, it } from "vitest";
import { alone } from "../../../src/model/nodes/alone.ts";
import type { Cluster } from "../../../src/model/nodes/cluster.ts";
import { createTraffic, type TrafficReport } from "../../../src/metrics/traffic.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { manualClock, type ManualClock } from "../outbox/harness.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** When the clock of a scene begins. */
const NOON = Date.UTC(2026, 10, 21, 12);

interface Scene {
  clock: ManualClock;
  store: Store;
}

/** A database with two numbers, and a clock at twelve. */
async function scene(): Promise<Scene> {
  const clock = manualClock();
  const store = await temporaryStore({}, clock.now);
  const sql =
    "insert into devices (id, account_id, number, state, since, created_at) values (?, 'a', ?, 'connected', 0, 0)";
  await store.writer.commit([1, 2].map((id) => ({ sql, args: [id, `4930${id}`] })));
  return { clock, store: { ...store, now: clock.now, time: clock.time } };
}

const counting = ({ store }: Scene, cluster: Cluster = alone()) =>
  createTraffic({ store, cluster, log: { warn: () => undefined } });

const full = ({ hours }: TrafficReport) =>
  hours
    .filter(
      (hour) => hour.in + hour.out + hour.failed + hour.bot + hour.webhook + hour.nobody + hour.posts > 0,
    )
    .map(({ at, ...counts }) => ({ hour: (at - NOON) / HOUR, ...counts }));

describe("traffic", () => {
  it("is told hour by hour, of single numbers and of all", async () => {
    const made = await scene();
    const traffic = counting(made);
    traffic.came(1);
    traffic.decided(1, "bot", 40);
    traffic.came(2);
    await made.clock.advance(HOUR + MINUTE);
    traffic.decided(1, "webhook", null);
    traffic.decided(1, "nobody", 40);
    traffic.ended(1, true);
    traffic.ended(1, false);
    traffic.posted(1, true);
    traffic.posted(1, false);

    const ofOne = await traffic.report([1], 24);
    expect(ofOne.hours).toHaveLength(24);
    expect(full(ofOne)).toMatchObject([
      { hour: 0, in: 1, bot: 1, webhook: 0, nobody: 0, out: 0, answerMs: { p50: expect.any(Number) } },
      {
        hour: 1,
        in: 0,
        bot: 0,
        webhook: 1,
        nobody: 1,
        out: 1,
        failed: 1,
        posts: 2,
        postFailures: 1,
        answerMs: null,
      },
    ]);
    expect(ofOne.sum).toMatchObject({ in: 1, out: 1, failed: 1, bot: 1, webhook: 1, nobody: 1, posts: 2 });
    expect((await traffic.report([1, 2], 24)).sum.in).toBe(2);
    expect((await traffic.report(null, 24)).sum.in).toBe(2);
    expect((await traffic.report([], 24)).sum.in).toBe(0);
    // Nothing was counted before it began.
    expect(ofOne.completeSince).toBe(NOON);
  });

  it("says how long answers took, about", async () => {
    const traffic = counting(await scene());
    for (let count = 0; count < 95; count++) traffic.decided(1, "bot", 40);
    for (let count = 0; count < 5; count++) traffic.decided(1, "bot", 4_000);

    const { answerMs } = (await traffic.report([1], 1)).sum;
    expect(answerMs!.p50).toBeGreaterThan(25);
    expect(answerMs!.p95).toBeLessThanOrEqual(50);
    traffic.decided(1, "bot", 4_000);
    expect((await traffic.report([1], 1)).sum.answerMs!.p95).toBeGreaterThan(3_000);
  });

  it("is kept by the hour once the hour is over, and at the end", async () => {
    const made = await scene();
    const first = counting(made);
    first.start();
    first.came(1);
    await made.clock.advance(HOUR + 6 * MINUTE);
    expect(await rawRows(made.store, "select device_id from traffic_hours", [])).toHaveLength(1);
    first.came(1);
    first.came(2);
    expect((await first.report([1], 48)).sum.in).toBe(2);
    await first.stop();
    expect(await rawRows(made.store, "select device_id from traffic_hours", [])).toHaveLength(3);

    // The next run goes on in the same hour.
    const second = counting(made);
    second.came(1);
    const report = await second.report([1], 48);
    expect(full(report)).toMatchObject([
      { hour: 0, in: 1 },
      { hour: 1, in: 2 },
    ]);
    expect(report.hours).toHaveLength(48);
    expect((await second.report(null, 48)).sum.in).toBe(4);
    expect(report.completeSince).toBe(NOON);
  });

  it("is written once the database takes it again", async () => {
    const made = await scene();
    let away = true;
    const { writer } = made.store;
    const commit: typeof writer.commit = async (statements, options) => {
      if (away) throw new Error("away");
      return writer.commit(statements, options);
    };
    const traffic = counting({ ...made, store: { ...made.store, writer: { ...writer, commit } } });
    traffic.start();
    traffic.came(1);
    await made.clock.advance(2 * HOUR);
    expect(await rawRows(made.store, "select 1 from traffic_hours", [])).toHaveLength(0);
    away = false;
    await made.clock.advance(6 * MINUTE);
    expect(await rawRows(made.store, "select 1 from traffic_hours", [])).toHaveLength(1);
    expect((await traffic.report([1], 48)).sum.in).toBe(1);
  });

  it("of several nodes is the sum, and says when one of them did not answer", async () => {
    const made = await scene();
    const [own, other] = [alone(), alone()];
    const there = counting(made, other);
    let reachable = true;
    let written = async (): Promise<void> => undefined;
    const here = counting(made, {
      ...own,
      node: "here",
      ownership: { ...own.ownership, ownerOf: (id) => (id === 2 ? "there" : "here") },
      bus: {
        ...own.bus,
        ask: async (question, id, asked) => {
          if (!reachable) throw new Error("away");
          const answer = await other.bus.ask(question, id, asked);
          await written();
          return answer;
        },
      },
    });
    here.came(1);
    there.came(2);

    expect(await here.report([1, 2], 24)).toMatchObject({ partial: false, sum: { in: 2 } });
    expect((await here.report([1], 24)).sum.in).toBe(1);
    expect((await here.report(null, 24)).sum.in).toBe(2);
    // What the other node has not written is there, and what it writes while it is asked is there once.
    await made.clock.advance(HOUR);
    there.came(2);
    expect((await here.report([2], 24)).sum.in).toBe(2);
    written = there.stop;
    expect((await here.report([2], 24)).sum.in).toBe(2);
    reachable = false;
    expect(await here.report([1, 2], 24)).toMatchObject({ partial: true, sum: { in: 3 } });
  });

  it("adds up a limited number of rows, each found by its key", async () => {
    const made = await scene();
    const { store, statements } = recordingStore(made.store);
    const traffic = counting({ ...made, store });
    traffic.came(1);
    await traffic.stop();
    await traffic.report([1], 48);
    await traffic.report(null, 48);
    expect(statements().length).toBeGreaterThan(3);
    for (const sql of statements()) expect(await fullScans(made.store, sql)).toEqual([]);
    const many = Array.from({ length: 1_000 }, (_, id) => id);
    await expect(traffic.report(many, 2_160)).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
  });
});
