import { describe, expect, it, vi } from "vitest";
import { loginsPerSecond, PARTITIONS } from "../../../src/model/nodes/cluster.ts";
import { systemTime } from "../../../src/model/time.ts";
import { NotOwner } from "../../../src/store/errors.ts";
import { findSqld } from "../../_setup/sqld.ts";
import { clustersOnOneServer, LEASE_MS, type TestMember } from "./members.ts";

const begin = clustersOnOneServer();
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 10 });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const sizes = (...nodes: TestMember[]): number[] => nodes.map(({ working }) => working.size);

describe.skipIf(findSqld() === null)("handing over", () => {
  it("gives a node that comes its share no faster than its numbers can log in", async () => {
    const { node } = await begin();
    const deviceIds = () => numbers(PARTITIONS);
    const a = await node("a", { deviceIds });
    const startedAt = performance.now();
    a.seen.length = 0;
    const b = await node("b", { deviceIds });

    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));

    const pace = loginsPerSecond(2);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(seconds).toBeGreaterThan(128 / pace - 2);
    // Whatever goes at once is away together: a quarter of a second's logins at most.
    const gifts = a.seen.map(({ partitions }) => partitions.length);
    expect(Math.max(...gifts)).toBeLessThanOrEqual(Math.ceil(pace / 4));
  });

  it("does not take back what it has just given, also when it looks meanwhile", async () => {
    const { node } = await begin();
    const deviceIds = () => numbers(PARTITIONS / 4);
    // A look that is sent while the work still ends is answered when the partitions are given.
    const a = await node("a", { deviceIds, leaseMs: 9_000, ending: () => systemTime.pause(300) });
    a.slow(300);
    a.seen.length = 0;
    const b = await node("b", { deviceIds, leaseMs: 9_000 });

    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));

    expect(a.seen.filter(({ what }) => what === "gained")).toEqual([]);
    expect(a.seen.flatMap(({ partitions }) => partitions)).toHaveLength(128);
  });

  it("gives nothing to a node that has its name and is not at work yet", async () => {
    const { node, member, client, bus } = await begin();
    const a = await node("a");
    const b = member("b");
    await b.member.enter(bus.join("b").bus);
    const lasts = async (): Promise<number> =>
      Number((await client.execute("SELECT until FROM nodes WHERE name = 'a'")).rows[0]!["until"]);
    const before = await lasts();

    await vi.waitFor(async () => expect((await lasts()) - before).toBeGreaterThan(LEASE_MS));
    expect(sizes(a, b)).toEqual([256, 0]);
    await b.member.start();

    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));
  });

  it("spreads a few numbers that were registered one after the other over all nodes", async () => {
    const { node } = await begin();
    const deviceIds = () => numbers(30);
    const nodes = [
      await node("a", { deviceIds }),
      await node("b", { deviceIds }),
      await node("c", { deviceIds }),
    ];
    await eventually(() => expect(sizes(...nodes).toSorted()).toEqual([85, 85, 86]));

    const counts = nodes.map(({ working }) => deviceIds().filter((id) => working.has(id)).length);

    // Which of two nodes gives first is chance, so nobody's share is exact: half of it at least, one and a half at most.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
    expect(Math.max(...counts)).toBeLessThanOrEqual(15);
  });

  it("goes from one that ends to those who have least, and each partition is away for a moment only", async () => {
    const { node } = await begin();
    const deviceIds = () => numbers(60);
    const nodes = [
      await node("a", { deviceIds, leaseMs: 60_000 }),
      await node("b", { deviceIds, leaseMs: 60_000 }),
      await node("c", { deviceIds, leaseMs: 60_000 }),
    ];
    const [a, b, c] = nodes as [TestMember, TestMember, TestMember];
    await eventually(() => expect(sizes(a, b, c).toSorted()).toEqual([85, 85, 86]));
    const lostAt = new Map<number, number>();
    const away: number[] = [];
    a.member.ownership.follow({
      gained: async () => undefined,
      lost: async (partitions) => partitions.forEach((partition) => lostAt.set(partition, performance.now())),
    });
    for (const other of [b, c])
      other.member.ownership.follow({
        gained: async (partitions) =>
          partitions.forEach((partition) => {
            if (lostAt.has(partition)) away.push(performance.now() - lostAt.get(partition)!);
          }),
        lost: async () => undefined,
      });

    await a.member.handOver(20_000);
    await a.stop();

    await eventually(() => expect(sizes(a, b, c)).toEqual([0, 128, 128]));
    expect(away.length).toBeGreaterThanOrEqual(85);
    // What is not handed over waits for the end of its lease.
    expect(Math.max(...away)).toBeLessThan(20_000);
    await eventually(() => expect(b.member.ownership.nodes()).toBe(2));
  });

  it("lets writes pass until the work of a partition has ended, and none after", async () => {
    const { node, client } = await begin();
    const insert = (id: number) => ({ sql: "INSERT INTO written (id) VALUES (?)", args: [id] });
    const a = await node("a", {
      ending: async () => void (await a.writer.commit([insert(1)], { owning: given })),
    });
    // What is given first.
    const given = 0;
    const b = await node("b");

    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));

    expect(b.working.has(given)).toBe(true);
    await expect(a.writer.commit([insert(2)], { owning: given })).rejects.toThrow(NotOwner);
    expect((await client.execute("SELECT id FROM written")).rows.map(({ id }) => id)).toEqual([1]);
  });

  it("does not wait for ever for work that does not end", async () => {
    const { node } = await begin();
    const a = await node("a", { ending: () => new Promise(() => undefined) });
    const b = await node("b");

    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));
  });

  it("leaves everything to whoever comes next when there is no other node", async () => {
    const { node } = await begin();
    const a = await node("a", { leaseMs: 60_000 });
    await a.member.handOver(60_000);
    expect(a.working.size).toBe(256);
    await a.stop();

    const b = await node("b", { leaseMs: 60_000 });

    expect(b.working.size).toBe(256);
  });

  it("works without the bus, a little later", async () => {
    const { node, bus } = await begin();
    const [a, b] = [await node("a"), await node("b")];
    await eventually(() => expect(sizes(a, b)).toEqual([128, 128]));
    bus.cut();

    await a.member.handOver(20_000);
    await a.stop();

    await eventually(() => expect(sizes(a, b)).toEqual([0, 256]));
  });
});
