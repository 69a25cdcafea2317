import { expect, it } from "vitest";
import { mayHold } from "../../../src/pipeline/held.ts";

/** Characters of `raw` that a backlog of equal messages keeps in memory. */
function heldOf(size: number, messages: number): number {
  const raw = "x".repeat(size);
  let held = 0;
  for (let waiting = 0; waiting < messages; waiting++) if (mayHold({ raw }, waiting)) held += size;
  return held;
}

it("a backlog of short messages is not read twice", () => {
  expect(heldOf(200, 5_000)).toBe(200 * 5_000);
});

it("a backlog stays within bounds, however many and however long its messages are", () => {
  // As long as a text may be, and as a picture's thumbnail makes it.
  for (const size of [200, 4_096, 20_000, 262_144])
    expect(heldOf(size, 20_000)).toBeLessThanOrEqual(24 * 1024 * 1024);
});
