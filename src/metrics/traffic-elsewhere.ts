import { defineQuestion, PARTITIONS, type Cluster } from "../model/cluster.ts";
import { SECOND_MS } from "../model/time.ts";
import { addTo, decodeCounts, encodeCounts, type Counts } from "./counts.ts";
import type { TrafficMemory } from "./traffic-memory.ts";

interface Asked {
  /** Null: all numbers that the node counts. */
  ids: number[] | null;
  /** Unix milliseconds. */
  since: number;
}
interface Answered {
  buckets: [at: number, counts: string][];
  completeSince: number;
}

/** What other nodes have counted of numbers that they have now. */
const TRAFFIC = defineQuestion<Asked, Answered>("traffic", 3 * SECOND_MS);

/** What came of asking them. */
interface Heard {
  /** Somebody did not answer. */
  partial: boolean;
  /** Since when all of them have counted; 0: nobody was asked. */
  completeSince: number;
}

/**
 * Answers what other nodes ask of this one's counts.
 *
 * @returns adds theirs. `key` says where the counts of a bucket belong
 */
export function shareTraffic(
  { node, bus, ownership }: Pick<Cluster, "node" | "bus" | "ownership">,
  memory: Pick<TrafficMemory, "add" | "since">,
) {
  bus.answer(TRAFFIC, async (_deviceId, { ids, since }) => {
    const found = new Map<number, Counts>();
    memory.add(found, ids, since);
    return {
      buckets: [...found].map(([at, counts]) => [at, encodeCounts(counts)]),
      completeSince: memory.since(ids !== null),
    };
  });

  /** The numbers of each other node. */
  function others(deviceIds: readonly number[] | null): number[][] {
    if (node === null) return [];
    const byNode = new Map<string, number[]>();
    // A number's partition is found by its id, so the partitions stand for all numbers.
    for (const id of deviceIds ?? Array(PARTITIONS).keys()) {
      const owner = ownership.ownerOf(id);
      if (owner === null || owner === node) continue;
      const known = byNode.get(owner);
      if (known === undefined) byNode.set(owner, [id]);
      else known.push(id);
    }
    return [...byNode.values()];
  }

  return async (
    to: Map<number, Counts>,
    deviceIds: readonly number[] | null,
    since: number,
    key: (at: number) => number = (at) => at,
  ): Promise<Heard> => {
    const heard: Heard = { partial: false, completeSince: 0 };
    await Promise.all(
      others(deviceIds).map(async (ids) => {
        const asked = { ids: deviceIds === null ? null : ids, since };
        const answer = await bus.ask(TRAFFIC, ids[0]!, asked).catch(() => null);
        heard.partial ||= answer === null;
        heard.completeSince = Math.max(heard.completeSince, answer?.completeSince ?? 0);
        for (const [at, counts] of answer?.buckets ?? []) addTo(to, key(at), decodeCounts(counts));
      }),
    );
    return heard;
  };
}
