import { describe, expect, it } from "vitest";
import { alone } from "../../../src/model/alone.ts";
import type { Cluster } from "../../../src/model/cluster.ts";
import { createTraffic, type TrafficReport } from "../../../src/metrics/traffic.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { manualClock, type ManualClock } from "../outbox/harness.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

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

const full = ({ points }: TrafficReport) =>
  points
    .filter((point) => point.in + point.out + point.failed + point.answered + point.posts > 0)
    .map(({ at, ...counts }) => ({
      minute: Math.round((at - Date.UTC(2026, 10, 21, 12)) / MINUTE),
      ...counts,
    }));

describe("traffic", () => {
  it("is told in steps of five minutes for a day, of single numbers and of all", async () => {
    const made = await scene();
    const traffic = counting(made);
    traffic.came(1);
    traffic.answered(1, 40);
    traffic.came(2);
    await made.clock.advance(7 * MINUTE);
    traffic.ended(1, true);
    traffic.ended(1, false);
    traffic.posted(1, true);
    traffic.posted(1, false);

    const ofOne = await traffic.report([1], 24);
    expect(ofOne.points).toHaveLength(288);
    expect(full(ofOne)).toMatchObject([
      { minute: 0, in: 1, answered: 1, out: 0, answerMs: { p50: expect.any(Number) } },
      { minute: 5, in: 0, out: 1, failed: 1, posts: 2, postFailures: 1, answerMs: null },
    ]);
    expect(ofOne.total).toMatchObject({ in: 1, out: 1, failed: 1, answered: 1, posts: 2 });
    expect((await traffic.report([1, 2], 24)).total.in).toBe(2);
    expect((await traffic.report(null, 24)).total.in).toBe(2);
    expect((await traffic.report([], 24)).total.in).toBe(0);
    // Nothing was counted before it began.
    expect(ofOne.completeSince).toBe(Date.UTC(2026, 10, 21, 12));
  });

  it("says how long answers took, about", async () => {
    const traffic = counting(await scene());
    for (let count = 0; count < 95; count++) traffic.answered(1, 40);
    for (let count = 0; count < 5; count++) traffic.answered(1, 4_000);

    const { answerMs } = (await traffic.report([1], 1)).total;
    expect(answerMs!.p50).toBeGreaterThan(25);
    expect(answerMs!.p95).toBeLessThanOrEqual(50);
    traffic.answered(1, 4_000);
    expect((await traffic.report([1], 1)).total.answerMs!.p95).toBeGreaterThan(3_000);
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
    expect((await first.report([1], 48)).total.in).toBe(2);
    await first.stop();
    expect(await rawRows(made.store, "select device_id from traffic_hours", [])).toHaveLength(3);

    // The next run goes on in the same hour.
    const second = counting(made);
    second.came(1);
    const report = await second.report([1], 48);
    expect(full(report)).toMatchObject([
      { minute: 0, in: 1 },
      { minute: 60, in: 2 },
    ]);
    expect(report.points).toHaveLength(48);
    expect((await second.report(null, 48)).total.in).toBe(4);
    expect(report.completeSince).toBe(Date.UTC(2026, 10, 21, 12));
    // Of five minutes the second run knows its own alone, and says so.
    const day = await second.report([1], 24);
    expect(day.total.in).toBe(1);
    expect(day.completeSince).toBe(made.clock.now());
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
    expect((await traffic.report([1], 48)).total.in).toBe(1);
  });

  it("of several nodes is the sum, and says when one of them did not answer", async () => {
    const made = await scene();
    const [own, other] = [alone(), alone()];
    const there = counting(made, other);
    let reachable = true;
    const here = counting(made, {
      ...own,
      node: "here",
      ownership: { ...own.ownership, ownerOf: (id) => (id === 2 ? "there" : "here") },
      bus: {
        ...own.bus,
        ask: (question, id, asked) =>
          reachable ? other.bus.ask(question, id, asked) : Promise.reject(new Error("away")),
      },
    });
    here.came(1);
    there.came(2);

    expect(await here.report([1, 2], 24)).toMatchObject({ partial: false, total: { in: 2 } });
    expect((await here.report([1], 24)).total.in).toBe(1);
    expect((await here.report(null, 24)).total.in).toBe(2);
    expect((await here.report([1, 2], 48)).total.in).toBe(2);
    reachable = false;
    expect(await here.report([1, 2], 24)).toMatchObject({ partial: true, total: { in: 1 } });
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
