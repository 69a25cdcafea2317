import { PARTITIONS } from "../model/nodes/cluster.ts";
import type { Lease } from "../store/write/lease-fence.ts";
import type { Look, PartitionView } from "./lease-table.ts";

/** What a node has seen last, and who it is. */
export interface Situation {
  node: string;
  look: Pick<Look, "partitions" | "nodes">;
  /** How many partitions it has itself. */
  held: number;
}

/** What may be taken of what is free. */
export interface TakingRules {
  /** What it has not given back, or is still ending, is no candidate. */
  isOurs(partition: number): boolean;
  /** For so long after a lease was given away only the one it was given to takes it. */
  heirMs: number;
  /** After an outage for all: each takes what it had, and leaves the others' to them for the moment. */
  onlyFormer: boolean;
  /** It has been seen free for so long that nobody comes for it: it is taken whoever's share it is. */
  isOrphan(partition: number): boolean;
}

/**
 * The order in which partitions are shared: those of numbers that were registered one after the other lie far apart in it,
 * so that a few numbers are spread over all nodes as well. 159/256 is close to the golden ratio.
 */
const IN_TURN = Array.from({ length: PARTITIONS }, (_, index) => (index * 159) % PARTITIONS);
const TURN = new Map(IN_TURN.map((partition, turn) => [partition, turn]));

/** Puts partitions in the order in which they are shared. */
export const inTurn = (partitions: readonly number[]): number[] =>
  partitions.toSorted((a, b) => TURN.get(a)! - TURN.get(b)!);

/** Names of those that partitions are given to, in an order that every node sees alike. */
export const staying = ({ nodes }: Pick<Look, "nodes">): string[] =>
  nodes.filter(({ leaving }) => !leaving).map(({ name }) => name);

/** How many partitions are a node's share: all shares together are all partitions. 0 for one that leaves. */
export function shareOf(node: string, names: readonly string[]): number {
  const rank = names.indexOf(node);
  if (rank === -1) return 0;
  return Math.floor(PARTITIONS / names.length) + (rank < PARTITIONS % names.length ? 1 : 0);
}

/** What is missing of each one's share, with what was given to it and it has still to take. */
function lacks({ partitions }: Pick<Look, "partitions">, names: readonly string[]): Map<string, number> {
  const lacking = new Map(names.map((name) => [name, shareOf(name, names)]));
  for (const { node, heir, leftMs } of partitions) {
    const owner = leftMs > 0 ? node : heir;
    if (owner !== null && lacking.has(owner)) lacking.set(owner, lacking.get(owner)! - 1);
  }
  return lacking;
}

/** How many others a node has partitions for, and how many nodes give to them at the same time. */
export function giversAndHeirs({ node, look }: Pick<Situation, "node" | "look">): {
  givers: number;
  heirs: number;
} {
  const names = staying(look);
  const lacking = lacks(look, names);
  const others = names.filter((name) => name !== node);
  const heirs = Math.max(1, others.filter((name) => lacking.get(name)! > 0).length);
  // One that leaves gives alone: the others have no more than their shares.
  const isLeaving = others.length === names.length;
  return { givers: isLeaving ? 1 : Math.max(1, names.length - heirs), heirs };
}

/**
 * Which free partitions a node tries to take: what was given to it, what it had before and nobody has taken since, and of
 * the rest as much as is missing of its share. Each begins behind what those before it lack, so that nodes that look at the
 * same moment want different ones.
 */
export function wantedBy({ node, look, held }: Situation, rules: TakingRules): Lease[] {
  const names = staying(look);
  const rank = names.indexOf(node);
  if (rank === -1) return [];
  const free = IN_TURN.filter((partition) => {
    const view = look.partitions[partition]!;
    return !rules.isOurs(partition) && (view.leftMs <= 0 || view.node === node);
  });
  const views = free.map((partition) => ({ partition, view: look.partitions[partition]! }));
  const reserved = ({ heir, leftMs }: PartitionView): boolean =>
    heir !== null && heir !== node && leftMs > -rules.heirMs;
  const open = views.filter(({ view }) => !reserved(view));
  const meant = open.filter(({ view }) => view.heir === node || (view.node === node && view.heir === null));
  const rest = rules.onlyFormer ? [] : open.filter((one) => !meant.includes(one));
  const lacking = lacks(look, names);
  const before = names.slice(0, rank).reduce((sum, name) => sum + Math.max(0, lacking.get(name)!), 0);
  const first = rest.length === 0 ? 0 : before % rest.length;
  const missing = Math.max(0, shareOf(node, names) - held - meant.length);
  const wanted = [...rest.slice(first), ...rest.slice(0, first)].filter(
    ({ partition }, index) => index < missing || rules.isOrphan(partition),
  );
  return [...meant, ...wanted].map(({ partition, view }) => ({ partition, epoch: view.epoch }));
}

/** Partitions that go to one other node. */
export interface Gift {
  heir: string;
  partitions: number[];
}

/**
 * What a node that has more than its share gives away, and to whom: to those who lack most of theirs. One that leaves gives
 * everything, to those who have least.
 *
 * @param held      its partitions, in the order in which they are given
 * @param numbersIn numbers of a partition
 * @param budget    how many numbers may change hands now, the last partition as a whole; what holds none costs nothing
 */
export function giftsOf(
  { node, look }: Situation,
  held: readonly number[],
  numbersIn: (partition: number) => number,
  budget: number,
): Gift[] {
  const names = staying(look);
  const lacking = lacks(look, names);
  lacking.delete(node);
  const gifts = new Map<string, number[]>();
  let surplus = held.length - shareOf(node, names);
  let left = budget;
  for (const partition of held) {
    const [heir, lacks] = [...lacking].toSorted((a, b) => b[1] - a[1])[0] ?? [null, 0];
    const cost = numbersIn(partition);
    if (surplus <= 0 || heir === null || (lacks <= 0 && names.includes(node)) || (cost > 0 && left <= 0))
      break;
    gifts.set(heir, [...(gifts.get(heir) ?? []), partition]);
    lacking.set(heir, lacks - 1);
    surplus -= 1;
    left -= cost;
  }
  return Array.from(gifts, ([heir, partitions]) => ({ heir, partitions }));
}
