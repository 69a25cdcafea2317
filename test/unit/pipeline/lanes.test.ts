import { describe, expect, it } from "vitest";
import { createLanes } from "../../../src/pipeline/lanes.ts";
import { rest } from "../outbox/harness.ts";

/** Lanes whose items end when the test says so. */
function manualLanes(maxParallel: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const lanes = createLanes<string>({
    maxParallel,
    handle: (item) => {
      begun.push(item);
      return new Promise((resolve) => ends.set(item, () => resolve(true)));
    },
  });
  const end = async (item: string): Promise<void> => {
    ends.get(item)!();
    await rest();
  };
  return { lanes, begun, end };
}

describe("lanes", () => {
  it("handle at most so many keys at once", () => {
    const { lanes, begun } = manualLanes(2);
    for (const [id, key] of ["a", "b", "c"].entries()) lanes.add(key, { id, item: key });

    expect(begun).toEqual(["a", "b"]);
  });

  it("give a place to who waits for one before a busy key goes on", async () => {
    const { lanes, begun, end } = manualLanes(1);
    lanes.add("a", { id: 1, item: "a1" });
    lanes.add("a", { id: 2, item: "a2" });
    lanes.add("b", { id: 3, item: "b1" });

    await end("a1");
    expect(begun).toEqual(["a1", "b1"]);
    await end("b1");

    expect(begun).toEqual(["a1", "b1", "a2"]);
  });

  it("strand nothing that is added in the moment a lane ends", async () => {
    const done: number[] = [];
    const lanes = createLanes<number>({ maxParallel: 1, handle: async (item) => done.push(item) > 0 });
    const total = 500;

    for (let id = 0; id < total; id++) {
      lanes.add("a", { id, item: id });
      // Up to eleven turns of the microtask queue: every moment of a lane's end is hit.
      for (let turn = 0; turn < id % 12; turn++) await Promise.resolve();
    }
    await rest();

    expect(done).toEqual(Array.from({ length: total }, (_, id) => id));
    expect(lanes.size).toBe(0);
  });

  it("put what was committed earlier before what was told earlier", async () => {
    const { lanes, begun, end } = manualLanes(1);
    lanes.add("a", { id: 1, item: "first" });
    lanes.add("a", { id: 3, item: "third" });
    lanes.add("a", { id: 2, item: "second" });

    await end("first");
    await end("second");

    expect(begun).toEqual(["first", "second", "third"]);
  });
});
