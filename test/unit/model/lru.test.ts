import { describe, expect, it } from "vitest";
import { createLru } from "../../../src/model/lru.ts";

const heldBytes = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

describe("what was used last", () => {
  it("is kept, at most so many, and what nobody asked for the longest makes room", () => {
    const lru = createLru<string, number>(3);
    for (const [index, name] of ["a", "b", "c"].entries()) lru.set(name, index);
    lru.get("a");
    lru.set("d", 3);
    lru.set("c", 20);

    expect([...lru.keys()].toSorted()).toEqual(["a", "c", "d"]);
    expect(lru.get("c")).toBe(20);
    for (let n = 0; n < 1_000; n++) lru.set(`${n}`, n);
    expect(lru.size).toBe(3);
  });

  it("takes memory only as it fills", () => {
    const before = heldBytes();
    const many = Array.from({ length: 100 }, () => createLru<string, number>(100_000));

    // 3 MB each, were they made whole.
    expect(heldBytes() - before).toBeLessThan(100 * 500_000);
    expect(many).toHaveLength(100);
  });
});

it("forgets what was set so long ago", () => {
  const lru = createLru<string, number>(3, 60_000);
  lru.set("a", 1);

  expect(lru.getRemainingTTL("a")).toBeGreaterThan(0);
  expect(lru.getRemainingTTL("a")).toBeLessThanOrEqual(60_000);
});
