import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { AccountEvent, EventReader } from "../../../src/events/event.ts";
import type { Events } from "../../../src/events/events.ts";
import { KEPT_EVENTS } from "../../../src/events/feed.ts";
import { createSharedEvents } from "../../../src/events/shared-events.ts";
import { createEventStreams } from "../../../src/events/stream.ts";
import { systemTime, timeWithClock } from "../../../src/model/time.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import { startRedis } from "../../_setup/redis.ts";
import { silentLog } from "../store/temporary.ts";
import { configFor } from "../store/temporary-config.ts";
import { MASTER_KEY, nobodyYet, talkingNode } from "./nodes.ts";

const HOUR_MS = 3_600_000;
let accounts = 0;

describe("events of several nodes", () => {
  const server = startRedis({ until: afterAll });

  /** @param aheadMs how much the node's clock is wrong */
  async function eventsOf(name: string, aheadMs = 0): Promise<Events & { restart(): Promise<Events> }> {
    const { bus, redis } = await talkingNode(name, (await server).url, nobodyYet());
    const time = timeWithClock(() => Date.now() + aheadMs);
    const events = createSharedEvents({
      store: { box: createSecretBox(MASTER_KEY), time, now: time.now },
      cluster: { bus },
      streams: createEventStreams(redis, name, systemTime),
      log: silentLog(configFor("/nowhere")),
    });
    onTestFinished(events.stop);
    return {
      ...events,
      async restart() {
        events.stop();
        bus.stop();
        redis.close();
        return eventsOf(name, aheadMs);
      },
    };
  }

  const setUp = async () => ({
    a: await eventsOf("a"),
    b: await eventsOf("b"),
    account: `account-${++accounts}`,
  });
  const happens = (events: Events, account: string, ...records: unknown[]): void => {
    for (const record of records)
      events.publish(account, { name: "device", number: "491", record: () => record });
  };
  /** @param others know of it when this resolves: here all nodes live in one process, and Redis is quicker than its turns */
  async function listen(
    events: Events,
    account: string,
    after: number | null = null,
    others: Events[] = [],
  ): Promise<EventReader> {
    const reader = (await events.read(account, "key", after))!;
    for (const other of others) await expect.poll(() => other.hasListeners(account)).toBe(true);
    return reader;
  }
  /** Waits for so many. */
  async function next(reader: EventReader, count: number): Promise<AccountEvent[]> {
    const taken: AccountEvent[] = [];
    const take = () => taken.push(...reader.take(5_000)!);
    await expect.poll(() => (take(), taken.length)).toBeGreaterThanOrEqual(count);
    return taken;
  }
  const records = (events: AccountEvent[]): unknown[] => events.map(({ record }) => record);
  const ids = (events: AccountEvent[]): number[] => events.map(({ id }) => id);
  const rise = (events: AccountEvent[]): void =>
    expect(ids(events)).toEqual([...new Set(ids(events))].toSorted((one, other) => one - other));

  it("are told wherever somebody listens, from the moment of listening, in one order under the same ids", async () => {
    const { a, b, account } = await setUp();
    const [atA, atB] = [await listen(a, account), await listen(b, account, null, [a, b])];
    for (let n = 0; n < 20; n++) happens(n % 2 === 0 ? a : b, account, n);

    const [toldAtA, toldAtB] = [await next(atA, 20), await next(atB, 20)];

    expect(toldAtA).toEqual(toldAtB);
    expect(records(toldAtA).toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => n).toSorted());
    rise(toldAtA);
  });

  it("cost the other nodes nothing while nobody listens, and are told as soon as somebody does", async () => {
    const { a, b, account } = await setUp();
    expect(b.hasListeners(account)).toBe(false);
    happens(b, account, "before");

    const reader = await listen(a, account, null, [a, b]);
    await expect.poll(() => b.hasListeners(account)).toBe(true);
    happens(b, account, "after");

    expect(records(await next(reader, 1))).toEqual(["after"]);
    // One that starts now knows it too.
    const late = await eventsOf("c");
    await expect.poll(() => late.hasListeners(account)).toBe(true);
  });

  it("go on at another node behind the last one that was heard, and over a restart of either", async () => {
    const { a, b, account } = await setUp();
    const reader = await listen(a, account, null, [a, b]);
    happens(b, account, 1, 2, 3, 4);
    const told = await next(reader, 4);
    reader.close();
    happens(b, account, 5);

    expect(records(await next(await listen(b, account, told[1]!.id), 3))).toEqual([3, 4, 5]);
    const again = await a.restart();
    const resumed = await listen(again, account, told[3]!.id);
    expect(records(await next(resumed, 1))).toEqual([5]);
    const restarted = await b.restart();
    await expect.poll(() => restarted.hasListeners(account)).toBe(true);
    happens(restarted, account, 6);
    expect(records(await next(resumed, 1))).toEqual([6]);
  });

  it("go on for one that comes back at the moment at which the last other listener leaves", async () => {
    const { a, b, account } = await setUp();
    const leaving = await listen(a, account, null, [a, b]);
    happens(b, account, 1, 2);
    const [first] = await next(leaving, 2);

    const coming = listen(a, account, first!.id);
    leaving.close();
    const reader = await coming;
    happens(b, account, 3);

    expect(records(await next(reader, 2))).toEqual([2, 3]);
  });

  it("are kept to the last thousand, whichever node they came from", async () => {
    const { a, b, account } = await setUp();
    (await listen(a, account)).close();
    await expect.poll(() => b.hasListeners(account)).toBe(true);
    for (let round = 0; round < 3; round++) {
      happens(a, account, ...Array.from({ length: KEPT_EVENTS / 4 }, (_, n) => [round, "a", n]));
      happens(b, account, ...Array.from({ length: KEPT_EVENTS / 4 }, (_, n) => [round, "b", n]));
      const seen = await listen(b, account);
      happens(a, account, "end");
      happens(b, account, "end");
      let ends = 0;
      const count = () =>
        (ends += records(seen.take(5_000) ?? []).filter((record) => record === "end").length);
      await expect.poll(count).toBe(2);
      seen.close();
    }

    const kept = await next(await listen(b, account, 1), KEPT_EVENTS);

    expect(kept).toHaveLength(KEPT_EVENTS);
    expect(kept.at(-1)!.record).toBe("end");
  });

  it("cannot be read, or written, by others who use the same Redis", async () => {
    const { a, b, account } = await setUp();
    const redis = await server;
    const reader = await listen(a, account, null, [a, b]);
    happens(b, account, { text: "a secret" });
    await next(reader, 1);
    const [key] = (await redis.command("KEYS", `*:events:of:${account}`)) as string[];

    expect(JSON.stringify(await redis.command("XRANGE", key!, "-", "+"))).not.toContain("a secret");
    await redis.command("XADD", key!, "*", "event", "forged");
    happens(b, account, "true");
    expect(records(await next(reader, 1))).toEqual(["true"]);
  });

  it("of this node are told while Redis is away, under ids that rise; then the feed goes on", async () => {
    const { b, account } = await setUp();
    const redis = await server;
    // Its clock is an hour ahead, and ids do not follow it.
    const a = await eventsOf("ahead", HOUR_MS);
    const reader = await listen(a, account, null, [a, b]);
    happens(b, account, 1);
    const told = await next(reader, 1);

    await redis.kill();
    happens(a, account, 2, 3);
    told.push(...(await next(reader, 2)));
    await redis.start();
    // Both nodes are back when an event of the other one arrives.
    await expect
      .poll(
        () => {
          happens(b, account, 4);
          told.push(...reader.take(5_000)!);
          return records(told).includes(4);
        },
        { interval: 100 },
      )
      .toBe(true);
    happens(a, account, 5);
    told.push(...(await next(reader, 1)));

    const hasHeard = () => (told.push(...reader.take(5_000)!), records(told).includes(5));
    await expect.poll(hasHeard).toBe(true);
    expect(records(told).slice(0, 3)).toEqual([1, 2, 3]);
    rise(told);
    expect(told.at(-1)!.id).toBeLessThan((Date.now() + HOUR_MS / 2) * 1_000);
  });

  it("are told once although Redis has taken one and could not say so", async () => {
    const { a, b, account } = await setUp();
    const redis = await server;
    onTestFinished(redis.goOn);
    const reader = await listen(a, account, null, [a, b]);
    redis.freeze();
    happens(a, account, 1);
    const told = await next(reader, 1);
    redis.goOn();

    await expect
      .poll(
        () => {
          happens(a, account, 2);
          told.push(...reader.take(5_000)!);
          return records(told).includes(2);
        },
        { interval: 100 },
      )
      .toBe(true);

    expect(records(told).filter((record) => record === 1)).toEqual([1]);
    rise(told);
  });

  it("that were missed are told to who comes back while Redis does not answer, as soon as it does", async () => {
    const { a, b, account } = await setUp();
    const redis = await server;
    onTestFinished(redis.goOn);
    const reader = await listen(a, account, null, [a, b]);
    happens(a, account, 1, 2, 3);
    const told = await next(reader, 3);
    redis.freeze();

    const elsewhere = await listen(b, account, told[0]!.id);
    expect(elsewhere.take(5_000)).toEqual([]);
    redis.goOn();

    expect(await next(elsewhere, 2)).toEqual(told.slice(1));
    happens(a, account, 4);
    expect(records(await next(elsewhere, 1))).toEqual([4]);
  });

  it("go on after Redis was emptied, under greater ids", async () => {
    const { a, b, account } = await setUp();
    const reader = await listen(a, account, null, [a, b]);
    happens(b, account, 1);
    const told = await next(reader, 1);

    await (await server).command("FLUSHALL");
    happens(b, account, 2);

    told.push(...(await next(reader, 1)));
    expect(records(told)).toEqual([1, 2]);
    rise(told);
  });

  it("begin where they stand for whoever names an id that was never given", async () => {
    const { a, account } = await setUp();
    const reader = await listen(a, account, 9_000_000_000_000_000);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    happens(a, account, 1);
    expect(records(await next(reader, 1))).toEqual([1]);
  });
});
