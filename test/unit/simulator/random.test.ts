import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/simulator/random.ts";

const bytes = (seed: string, label: string) => seededRandom(seed).fork(label).bytes(100).toString("hex");

describe("seeded random streams", () => {
  it("gives the same bytes for the same seed and label, and others for another", () => {
    expect(bytes("a", "contact 1")).toBe(bytes("a", "contact 1"));
    expect(bytes("a", "contact 1")).not.toBe(bytes("a", "contact 2"));
    expect(bytes("a", "contact 1")).not.toBe(bytes("b", "contact 1"));
  });

  it("does not let one stream's use shift another's bytes", () => {
    const root = seededRandom("a");
    root.bytes(1000);
    root.fork("first").bytes(7);

    expect(root.fork("second").bytes(32)).toEqual(seededRandom("a").fork("second").bytes(32));
  });

  it("goes on within a stream and never repeats a block", () => {
    const stream = seededRandom("a");

    expect(stream.bytes(32)).not.toEqual(stream.bytes(32));
  });

  it("draws every whole number below the limit and none beyond", () => {
    const stream = seededRandom("dice");
    const drawn = new Set(Array.from({ length: 500 }, () => stream.integer(6)));

    expect([...drawn].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(() => stream.integer(0)).toThrow(RangeError);
  });
});
