import { describe, expect, it } from "vitest";
import { inTurn, shareOf, wantedBy } from "../../../src/cluster/balance.ts";
import type { PartitionView } from "../../../src/cluster/lease-table.ts";
import { PARTITIONS } from "../../../src/model/nodes/cluster.ts";

const RULES = { heirMs: 300, onlyFormer: false, isOrphan: () => false };
const ALL = inTurn(Array.from({ length: PARTITIONS }, (_, partition) => partition));

/** A database in which one node after the other has so many partitions, in turn. */
function lookWith(shares: Record<string, number>, nodes: string[]) {
  const owners = Object.entries(shares).flatMap(([node, count]) => Array<string>(count).fill(node));
  const partitions: PartitionView[] = [];
  for (const [turn, partition] of ALL.entries()) {
    const node = owners[turn]!;
    partitions[partition] = { node, heir: null, epoch: 1, leftMs: nodes.includes(node) ? 900 : -10 };
  }
  return { partitions, nodes: nodes.map((name) => ({ name, leaving: false })) };
}

function placeOf(node: string, shares: Record<string, number>): [number, number] {
  const before = Object.keys(shares).slice(0, Object.keys(shares).indexOf(node));
  const first = before.reduce((sum, name) => sum + shares[name]!, 0);
  return [first, first + shares[node]!];
}

describe("the partitions of a node that died", () => {
  const wantedOf = (node: string, shares: Record<string, number>, nodes: string[]): number[] =>
    wantedBy(
      { node, look: lookWith(shares, nodes), held: shares[node]! },
      { ...RULES, isOurs: (partition) => ALL.slice(...placeOf(node, shares)).includes(partition) },
    ).map(({ partition }) => partition);

  it.each([
    [{ b: 85, c: 85, a: 86 }],
    [{ a: 86, b: 85, c: 85 }],
    [{ b: 85, a: 86, c: 85 }],
    [{ b: 128, a: 128, c: 0 }],
    [{ b: 64, c: 64, d: 64, a: 64 }],
  ])("are wanted once each when those who are left look at the same moment: %j", (shares) => {
    const left = Object.keys(shares)
      .filter((name) => name !== "a")
      .toSorted();
    const wanted = left.map((node) => wantedOf(node, shares, left));
    expect(new Set(wanted.flat()).size).toBe(wanted.flat().length);
    expect(wanted.flat()).toHaveLength(shares.a);
    for (const [index, node] of left.entries())
      expect(wanted[index]).toHaveLength(shareOf(node, left) - (shares as Record<string, number>)[node]!);
  });
});
