import { describe, expect, it } from "vitest";
import { createPossession } from "../../../src/app/possession.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { partitionOf, type Cluster, type OwnershipWorker } from "../../../src/model/nodes/cluster.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import { manualClock, rest, until } from "../outbox/harness.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

/** What is done for numbers, in its order; what takes long ends when the test says so. */
function setUp(ids: number[], node: string | null = "a", nodes = 1) {
  const done: string[] = [];
  const live = new Set<number>();
  const held: (() => void)[] = [];
  let slow = false;
  let failing = 0;
  let worker: OwnershipWorker | undefined;
  const cluster: Cluster = {
    ...alone(),
    node,
    ...(node !== null && {
      ownership: {
        ...alone().ownership,
        nodes: () => nodes,
        follow: (follower) => ((worker = follower), () => undefined),
      },
    }),
  };
  const clock = manualClock();
  const possession = createPossession({
    cluster,
    log: silentLog(configFor(temporaryFolder())),
    time: clock.time,
    numbers: {
      idsIn: (partitions) => ids.filter((id) => partitions.includes(partitionOf(id))),
      async take(some) {
        if (failing-- > 0) throw new StorageUnavailable("it is away");
        for (const id of some) live.add(id);
        return [...some];
      },
      begin: ([id]) => void done.push(`connect ${id}`),
      async leave(some) {
        for (const id of some) if (live.delete(id)) done.push(`hang up ${id}`);
      },
    },
    path: {
      async open(id) {
        if (slow) await new Promise<void>((resolve) => held.push(resolve));
        done.push(`open ${id}`);
      },
      close: async (id) => void done.push(`close ${id}`),
    },
    whatsapp: { leave: (some) => void done.push(`forget keys of ${some.join()}`) },
    forgetful: [],
    rereading: [],
    onOpened: () => undefined,
  });
  return {
    done,
    clock,
    possession,
    worker: () => worker!,
    slowly: (is: boolean) => {
      slow = is;
      if (!is) for (const go of held.splice(0)) go();
    },
    fail: (times: number) => void (failing = times),
  };
}

const CLOSED = ["close 1"];

describe("a number of a partition", () => {
  it("is opened before it connects, and hung up before anything else ends", async () => {
    const { done, possession, worker } = setUp([1]);
    await possession.start();
    await worker().gained([1]);
    expect(done.splice(0)).toEqual(["open 1", "connect 1"]);

    const lost = worker().lost([1]);
    expect(done).toEqual(["hang up 1"]);
    await lost;
    expect(done).toEqual(["hang up 1", "forget keys of 1", ...CLOSED]);
  });

  it("that goes while it is being opened, and comes back, is closed whole before it is opened again", async () => {
    const { done, possession, worker, slowly } = setUp([1]);
    await possession.start();
    slowly(true);
    const first = worker().gained([1]);
    await rest();
    const lost = worker().lost([1]);
    const second = worker().gained([1]);
    await rest();
    expect(done).toEqual(["hang up 1"]);
    slowly(false);
    await Promise.all([first, lost, second]);
    const closed = done.indexOf("close 1");
    expect(done.slice(closed + 1)).toEqual(["open 1", "connect 1"]);
    expect(done.slice(0, closed)).toContain("forget keys of 1");
  });

  it("that goes while it is being opened never connects", async () => {
    const { done, possession, worker, slowly } = setUp([1, 257]);
    await possession.start();
    slowly(true);
    const gained = worker().gained([1]);
    await rest();
    const lost = worker().lost([1]);
    slowly(false);
    await Promise.all([gained, lost]);
    expect(done).not.toContain("open 257");
    expect(done.at(-1)).toBe("close 257");
  });

  it("is opened once the database answers again", async () => {
    const { done, clock, possession, worker, fail } = setUp([1]);
    await possession.start();
    fail(3);
    void worker().gained([1]);
    await until(async () => {
      await clock.advance(10_000);
      expect(done).toEqual(["open 1", "connect 1"]);
    });
  });

  it("that a write has shown to be another's is hung up, and opened again when it was ours after all", async () => {
    const { done, clock, possession, worker } = setUp([1]);
    await possession.start();
    await worker().gained([1]);
    possession.taken(1);
    expect(done.splice(0).at(-1)).toBe("hang up 1");
    await clock.advance(20_000);
    expect(done).toEqual(["open 1", "connect 1"]);
  });

  it("logs in so rarely that all nodes together make 50 logins a second", async () => {
    for (const [nodes, everyMs] of [
      [1, 50],
      [2, 50],
      [4, 80],
      [10, 200],
    ] as const) {
      const { possession, worker } = setUp([], "a", nodes);
      await possession.start();
      await worker().gained(Array.from({ length: 256 / nodes }, (_, partition) => partition));
      expect(possession.loginEveryMs()).toBeCloseTo(everyMs);
    }
  });

  it("logs in what it is given at first as fast as everything later", async () => {
    const { possession, worker } = setUp([1], "a", 3);
    await possession.start();
    await worker().gained([1]);
    expect(possession.loginEveryMs()).toBeCloseTo(60);
  });

  it("of a process alone is open when the start is through, and a database that is away fails it", async () => {
    const { done, possession, fail } = setUp([1, 2], null);
    fail(1);
    await expect(possession.start()).rejects.toThrow(StorageUnavailable);
    fail(1);
    await expect(possession.added(1)).rejects.toThrow(StorageUnavailable);
    await possession.added(1);
    expect(done.filter((what) => what.endsWith(" 1"))).toEqual(["open 1", "connect 1"]);
  });
});
