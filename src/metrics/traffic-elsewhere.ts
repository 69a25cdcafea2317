import { defineQuestion, PARTITIONS, type Cluster } from "../model/nodes/cluster.ts";
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
  /** Which rows are the node's own. */
  part: string;
  /** Hours that it has in memory, whatever they hold of the numbers asked for. */
  has: number[];
  hours: [at: number, counts: string][];
}

/** What other nodes have counted and not written yet. */
const TRAFFIC = defineQuestion<Asked, Answered>("traffic", 3 * SECOND_MS);

/** What came of asking them. */
interface Heard {
  /** Somebody did not answer. */
  partial: boolean;
  /** What is added already, and whose row may be there by now. */
  added: { part: string; has: number[] }[];
}

/**
 * Answers what other nodes ask of this one's counts.
 *
 * @param part names the rows of this process
 * @returns adds theirs
 */
export function shareTraffic(
  { node, bus, ownership }: Pick<Cluster, "node" | "bus" | "ownership">,
  memory: Pick<TrafficMemory, "add">,
  part: string,
) {
  bus.answer(TRAFFIC, async (_deviceId, { ids, since }) => {
    const found = new Map<number, Counts>();
    const has = memory.add(found, ids, since);
    return { part, has, hours: [...found].map(([at, counts]) => [at, encodeCounts(counts)]) };
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
  ): Promise<Heard> => {
    const heard: Heard = { partial: false, added: [] };
    await Promise.all(
      others(deviceIds).map(async (ids) => {
        const asked = { ids: deviceIds === null ? null : ids, since };
        const answer = await bus.ask(TRAFFIC, ids[0]!, asked).catch(() => null);
        if (answer === null) heard.partial = true;
        else heard.added.push(answer);
        for (const [at, counts] of answer?.hours ?? []) addTo(to, at, decodeCounts(counts));
      }),
    );
    return heard;
  };
}
