import { array, assert, asyncProperty, constantFrom, integer, nat, record } from "fast-check";
import { expect, it } from "vitest";
import { systemTime } from "../../src/model/time.ts";
import { createLeaseFence } from "../../src/store/write/lease-fence.ts";
import { createServerEngine } from "../../src/store/server/engine.ts";
import { createWriter } from "../../src/store/write/writer.ts";
import { findSqld } from "../_setup/sqld.ts";
import { clustersOnOneServer, type Cluster, type TestMember } from "../unit/cluster/members.ts";
import { runs, TIME_LIMIT_MS } from "./runs.ts";

const begin = clustersOnOneServer();

const LEASE_MS = 700;
const NAMES = ["a", "b", "c"];
/** What is written to: few, so that many hands meet. */
const CONTESTED = 8;

type Fault = "freeze" | "thaw" | "cut" | "mend" | "hand over" | "nothing";
interface Step {
  at: number;
  fault: Fault;
  pauseMs: number;
}

const steps = array(
  record<Step>({
    at: nat(NAMES.length - 1),
    fault: constantFrom<Fault>("freeze", "thaw", "cut", "mend", "hand over", "nothing"),
    pauseMs: integer({ min: 20, max: 500 }),
  }),
  { minLength: 8, maxLength: 14 },
);

/** Writes all the time for everything that its node ever had, under the lease that it had then: it never believes a loss. */
function stubbornWriter({ member, name }: TestMember, url: string) {
  const epochs = new Map<number, number>();
  const fence = createLeaseFence();
  fence.serve({ epochOf: (partition) => epochs.get(partition) ?? null, refused: () => undefined });
  const engine = createServerEngine({ url, authToken: null, time: systemTime });
  const writer = createWriter({ engine, time: systemTime, fence });
  const counts = { written: 0, refused: 0 };
  const ending = new AbortController();
  member.ownership.follow({
    gained: async (partitions) => partitions.forEach((p) => epochs.set(p, member.holder.epochOf(p) ?? -1)),
    lost: async () => undefined,
  });

  async function write(partition: number): Promise<void> {
    const sql = "INSERT INTO written (p, epoch, node) VALUES (?, ?, ?)";
    const args = [partition, epochs.get(partition)!, name];
    await writer.commit([{ sql, args }], { owning: partition }).then(
      () => counts.written++,
      () => counts.refused++,
    );
  }
  const running = (async () => {
    while (!ending.signal.aborted) {
      const known = [...epochs.keys()].filter((partition) => partition < CONTESTED);
      await Promise.all(known.map(write));
      await systemTime.pause(5);
    }
  })();
  return {
    counts,
    async end() {
      ending.abort();
      await running;
      await engine.close();
    },
  };
}

async function play(cluster: Cluster, schedule: Step[]): Promise<{ written: number; refused: number }> {
  const nodes = await Promise.all(NAMES.map((name) => cluster.node(name, { leaseMs: LEASE_MS })));
  const writers = nodes.map((node) => stubbornWriter(node, cluster.server.url));
  // Nothing can go wrong before somebody has something: on a busy machine so short a lease may be over when it comes.
  while (writers.every(({ counts }) => counts.written === 0)) await systemTime.pause(20);
  for (const { at, fault, pauseMs } of schedule) {
    const node = nodes[at]!;
    if (fault === "freeze") node.freeze();
    if (fault === "thaw") node.thaw();
    if (fault === "cut") node.cut(true);
    if (fault === "mend") node.cut(false);
    if (fault === "hand over") void node.member.handOver(LEASE_MS);
    await systemTime.pause(pauseMs);
  }
  for (const node of nodes) {
    node.cut(false);
    node.thaw();
  }
  await Promise.all(writers.map(({ end }) => end()));
  await Promise.all(nodes.map((node) => node.stop()));
  const sum = (what: "written" | "refused"): number =>
    writers.reduce((all, { counts }) => all + counts[what], 0);
  return { written: sum("written"), refused: sum("refused") };
}

it.skipIf(findSqld() === null)(
  "no write stands under an old epoch after one of a newer epoch, whatever befalls the nodes",
  async () => {
    let refused = 0;
    await assert(
      asyncProperty(steps, async (schedule) => {
        const cluster = await begin();
        const counts = await play(cluster, schedule);
        refused += counts.refused;

        const late = await cluster.client.execute(
          `SELECT b.* FROM written a JOIN written b ON b.p = a.p AND b.id > a.id AND b.epoch < a.epoch LIMIT 5`,
        );
        expect(late.rows).toEqual([]);
        const shared = await cluster.client.execute(
          "SELECT p, epoch FROM written GROUP BY p, epoch HAVING count(DISTINCT node) > 1 LIMIT 5",
        );
        expect(shared.rows).toEqual([]);
        expect(counts.written).toBeGreaterThan(0);
      }),
      runs(2),
    );
    // It would show nothing if nobody had tried.
    expect(refused).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
