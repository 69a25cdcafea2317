import { describe, expect, it } from "vitest";
import { gapsIn } from "../../../src/audit/gaps.ts";

/** Pairs of announced and arrived, oldest connection first. */
const gaps = (...pairs: [announced: number | null, arrived: number][]) =>
  gapsIn(pairs.map(([announced, arrived]) => ({ announced, arrived })));

describe("what the counts of connections say", () => {
  it("is nothing when everything came that was announced, or more", () => {
    expect(gaps()).toEqual({ lost: 0, awaited: 0 });
    expect(gaps([null, 0], [3, 3], [0, 0], [2, 4])).toEqual({ lost: 0, awaited: 0 });
  });

  it("is nothing lost when the next connection is told of the rest again", () => {
    expect(gaps([5, 2], [3, 3])).toEqual({ lost: 0, awaited: 0 });
    expect(gaps([5, 2], [4, 0], [6, 6])).toEqual({ lost: 0, awaited: 0 });
  });

  it("is lost what the next connection is not told of any more", () => {
    expect(gaps([5, 2], [1, 1])).toEqual({ lost: 2, awaited: 0 });
    expect(gaps([5, 2], [null, 0], [2, 0], [null, 0])).toEqual({ lost: 5, awaited: 0 });
  });

  it("may still come on the newest connection", () => {
    expect(gaps([5, 5], [4, 1])).toEqual({ lost: 0, awaited: 3 });
  });
});
