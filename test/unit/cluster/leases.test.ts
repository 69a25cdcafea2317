import { describe, expect, it, vi } from "vitest";
import { PARTITIONS } from "../../../src/model/nodes/cluster.ts";
import { NotOwner } from "../../../src/store/errors.ts";
import { DATABASE_NOW } from "../../../src/store/write/lease-fence.ts";
import { findSqld } from "../../_setup/sqld.ts";
import { clustersOnOneServer, LEASE_MS, type TestMember } from "./members.ts";

const begin = clustersOnOneServer();
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 10 });

const insert = (id: number) => ({ sql: "INSERT INTO written (id) VALUES (?)", args: [id] });
const all = (...nodes: TestMember[]): number[] => nodes.flatMap(({ working }) => [...working]);

/** Everything is somebody's, and nothing is two nodes' own. */
function expectShared(...nodes: TestMember[]): void {
  expect(all(...nodes).toSorted((a, b) => a - b)).toEqual(Array.from({ length: PARTITIONS }, (_, p) => p));
}

describe.skipIf(findSqld() === null)("nodes on one database", () => {
  it("takes everything when it is the only one, and knows that it owns it", async () => {
    const { node } = await begin();
    const a = await node("a");

    // The first lease may end before a busy server has answered: then it is taken once more.
    await eventually(() => {
      expectShared(a);
      expect(a.member.ownership.owns(300)).toBe(true);
      expect(a.member.ownership.ownerOf(300)).toBe("a");
    });
    expect(a.member.ownership.nodes()).toBe(1);
  });

  it("shares everything with one that comes, and each knows of every number who has it", async () => {
    const { node } = await begin();
    const a = await node("a");
    const b = await node("b");

    await eventually(() => {
      expectShared(a, b);
      expect(b.working.size).toBe(128);
    });
    await eventually(() => {
      for (let id = 0; id < PARTITIONS; id++) {
        const owner = a.working.has(id) ? "a" : "b";
        expect([a.member.ownership.ownerOf(id), b.member.ownership.ownerOf(id)]).toEqual([owner, owner]);
      }
    });
    expect(a.member.ownership.nodes()).toBe(2);
  });

  it("lets two start at once on an empty database", async () => {
    const { node } = await begin();
    const [a, b] = await Promise.all([node("a"), node("b")]);

    await eventually(() => {
      expectShared(a, b);
      expect(a.working.size).toBe(128);
    });
  });

  it("gives the partitions of one that died to the others, soon after its leases are over", async () => {
    const { node } = await begin();
    const [a, b, c] = [await node("a"), await node("b"), await node("c")];
    await eventually(() => {
      expectShared(a, b, c);
      expect(Math.min(a.working.size, b.working.size, c.working.size)).toBe(85);
    });

    a.kill();
    const killedAt = performance.now();

    await eventually(() => expectShared(b, c));
    // Generous: the lease, and what two slow cores take.
    expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + 20_000);
  });

  it("refuses what a node writes that was stopped past its lease, and nothing of others", async () => {
    const { node, client } = await begin();
    const [a, b] = [await node("a"), await node("b")];
    await eventually(() => expect(b.working.size).toBe(128));
    const lost = [...a.working][0]!;
    await a.writer.commit([insert(1)], { owning: lost });

    a.freeze();
    await eventually(() => expectShared(b));
    // It has not been told of anything yet: its own clock is all that it has.
    expect(a.working.has(lost)).toBe(true);
    const late = await Promise.allSettled([
      a.writer.commit([insert(2)], { owning: lost }),
      a.writer.commit([insert(3)], { owning: null }),
    ]);
    a.thaw();

    expect(late[0]).toMatchObject({ status: "rejected", reason: expect.any(NotOwner) });
    expect(late[1]).toMatchObject({ status: "fulfilled" });
    await eventually(() => expect(a.working.has(lost) && b.working.has(lost)).toBe(false));
    await eventually(() => expectShared(a, b));
    const { rows } = await client.execute("SELECT id FROM written ORDER BY id");
    expect(rows.map(({ id }) => id)).toEqual([1, 3]);
  });
});

/** The partitions that were lost or gained, each as often as it was, in their order. */
const changed = (seen: TestMember["seen"], which: string): number[] =>
  seen.flatMap(({ what, partitions }) => (what === which ? partitions : [])).toSorted((x, y) => x - y);

describe.skipIf(findSqld() === null)("a node that cannot be heard of", () => {
  it("closes its numbers before its lease ends, says so once, and leaves them to others", async () => {
    const { node, client } = await begin();
    const [a, b] = [await node("a"), await node("b")];
    await eventually(() => expect(b.working.size).toBe(128));
    const mine = [...a.working][0]!;
    /** How long the lease had still to go, by the database's clock, when its workers were told to end. */
    let left = Number.NaN;
    a.member.ownership.follow({
      gained: async () => undefined,
      lost: async () => {
        if (!Number.isNaN(left)) return;
        const { rows } = await client.execute({
          sql: `SELECT node, until - ${DATABASE_NOW} AS left FROM leases WHERE p = ?`,
          args: [mine],
        });
        left = rows[0]!["node"] === "a" ? Number(rows[0]!["left"]) : -1;
      },
    });

    const saying = (what: string): number => a.lines.filter((line) => line.includes(what)).length;
    // A machine that stood still before this may have made it say so already.
    const before = saying("could not renew its leases");
    a.cut(true);
    await eventually(() => expect(a.working.size).toBe(0));
    await eventually(() => expectShared(b));

    expect(left).toBeGreaterThan(0);
    expect(saying("could not renew its leases") - before).toBe(1);
    expect(saying("does not answer") - saying("answers this node again")).toBe(1);
    a.cut(false);
    await eventually(() => {
      expectShared(a, b);
      expect(a.working.size).toBe(128);
    });
  });

  it("says once that it has closed its numbers, also when it has just taken some that last longer", async () => {
    const { node } = await begin();
    const [a, b] = [await node("a"), await node("b")];
    await eventually(() => expect(b.working.size).toBe(128));
    const closed = (): string[] => a.lines.filter((line) => line.includes("could not renew its leases"));

    // What it takes is asked for after what it renews: all of it runs out at two moments.
    a.slow(LEASE_MS / 10);
    b.kill();
    await eventually(() => expectShared(a));
    const before = closed().length;
    a.cut(true);
    await eventually(() => expect(a.working.size).toBe(0));

    expect(closed().slice(before)).toHaveLength(1);
  });

  it("has what it had when the database was away for everybody", async () => {
    const { node } = await begin();
    const nodes = [await node("a"), await node("b"), await node("c")];
    await eventually(() => expect(nodes.map(({ working }) => working.size).toSorted()).toEqual([85, 85, 86]));
    const before = nodes.map(({ working }) => [...working].toSorted((x, y) => x - y));
    const changes = nodes.map(({ seen }) => seen.length);

    for (const one of nodes) one.cut(true);
    await eventually(() => expect(all(...nodes)).toEqual([]));
    for (const one of nodes) one.cut(false);

    await eventually(() => expectShared(...nodes));
    expect(nodes.map(({ working }) => [...working].toSorted((x, y) => x - y))).toEqual(before);
    // Each was lost once and gained once, by who had it: nothing goes to and fro.
    nodes.forEach(({ seen }, index) => {
      for (const what of ["lost", "gained"])
        expect(changed(seen.slice(changes[index]), what)).toEqual(before[index]);
    });
  });

  it("keeps its numbers through an outage that is shorter than a lease", async () => {
    const { node } = await begin();
    const a = await node("a", { leaseMs: 9_000 });

    a.cut(true);
    await eventually(() => expect(a.lines.some((line) => line.includes("does not answer"))).toBe(true));
    a.cut(false);
    await eventually(() =>
      expect(a.lines.some((line) => line.includes("answers this node again"))).toBe(true),
    );

    expectShared(a);
    expect(a.seen).toHaveLength(1);
  });

  it("keeps its numbers when the database answers late, time after time", async () => {
    const { node, client } = await begin();
    // Long enough that a busy machine renews in time.
    const leaseMs = 8 * LEASE_MS;
    const a = await node("a", { leaseMs });
    const lasts = async (): Promise<number> =>
      Number((await client.execute("SELECT until FROM leases WHERE p = 0")).rows[0]!["until"]);

    // Later than it looks again, and before its lease is over.
    a.slow(leaseMs * 0.35);
    const before = await lasts();
    await vi.waitFor(async () => expect((await lasts()) - before).toBeGreaterThan(leaseMs));

    expectShared(a);
    expect(a.seen).toHaveLength(1);
  });

  it("does not take a partition again while something of it still ends", async () => {
    const { node } = await begin();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const a = await node("a", { ending: () => ended });
    // A first look that was late has taken nothing yet.
    await eventually(() => expectShared(a));

    a.cut(true);
    await eventually(() => expect(a.working.size).toBe(0));
    const saidBefore = a.lines.length;
    a.cut(false);
    await eventually(() =>
      expect(a.lines.slice(saidBefore).some((line) => line.includes("answers this node again"))).toBe(true),
    );
    expect(a.working.size).toBe(0);
    end();

    await eventually(() => expectShared(a));
  });

  it("takes what it does not know to have: the answer that gave it was lost", async () => {
    const { node, client } = await begin();
    const a = await node("a");
    await client.execute("UPDATE leases SET epoch = epoch + 1 WHERE p = 7");

    await eventually(() => expect(a.seen.map(({ what }) => what)).toEqual(["gained", "lost", "gained"]));

    expectShared(a);
    await a.writer.commit([insert(1)], { owning: 7 });
  });
});

describe.skipIf(findSqld() === null)("clocks of hosts", () => {
  it.each([-10, 10])(
    "do not matter: one that is %i minutes off keeps its share, writes, and inherits",
    async (minutes) => {
      const { node, client } = await begin();
      // Long enough that a busy machine renews in time: nothing may change hands here.
      const leaseMs = 4 * LEASE_MS;
      const a = await node("a", { leaseMs });
      const b = await node("b", { leaseMs, skewMs: minutes * 60_000 });
      await eventually(() => expect(b.working.size).toBe(128));
      const changes = b.seen.length;
      const lasts = async (): Promise<number> =>
        Number((await client.execute("SELECT until FROM nodes WHERE name = 'b'")).rows[0]!["until"]);

      const before = await lasts();
      await vi.waitFor(async () => expect((await lasts()) - before).toBeGreaterThan(leaseMs));
      await b.writer.commit([insert(1)], { owning: [...b.working][0]! });

      expectShared(a, b);
      expect(b.seen).toHaveLength(changes);
      a.kill();
      await eventually(() => expectShared(b));
    },
  );
});
