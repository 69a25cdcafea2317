import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { seededRandom } from "../../src/simulator/inside.ts";
import { whenBuilt } from "../_setup/build.ts";
import { findSqld } from "../_setup/sqld.ts";
import { runDrill, type Row } from "./drill.ts";
import { faultsNamed } from "./faults/index.ts";
import { openWorld, type ClusterWorld } from "./world.ts";

const NUMBERS = 9;
const LEASE_S = 5;

let world: ClusterWorld;

/** A few of the faults, with few numbers; `npm run cluster -- --drill` has them all. */
describe.skipIf(findSqld() === null)("three nodes under load", () => {
  beforeAll(async () => {
    const entry = inject("serverEntry");
    await whenBuilt(entry);
    world = await openWorld({ nodes: 3, numbers: NUMBERS, leaseSeconds: LEASE_S, entry });
  }, 600_000);
  afterAll(() => world?.close());

  it.each(["node-killed", "redis-emptied", "rolling-restart"])(
    "%s: nothing lost, nothing twice, in order, nothing written under an old lease",
    async (name) => {
      const [row] = await runDrill({
        world,
        faults: faultsNamed([name]),
        random: seededRandom(name),
        leaseMs: LEASE_S * 1_000,
        perSecond: 4,
        onRow: () => undefined,
      });

      const { problems, lost, duplicated, outOfOrder, stale } = row as Row;
      expect(problems).toEqual([]);
      expect({ lost, duplicated, outOfOrder, stale }).toEqual({
        lost: 0,
        duplicated: 0,
        outOfOrder: 0,
        stale: 0,
      });
      expect(row!.messages).toBeGreaterThan(20);
    },
    300_000,
  );
});
