import { describe, expect, it } from "vitest";
import { STORIES } from "./crash-stories.ts";
import { shipped } from "./shipped.ts";

describe("stories that are killed at every commit", () => {
  it("there is a story for every bot", () => {
    const bots = Object.keys(shipped).map((id) => id.replace(/\/index$/, ""));
    expect(
      Object.keys(STORIES).toSorted(),
      "Write a story for each bot of bots/ into test/bots/crash-stories.ts.",
    ).toEqual(bots.toSorted());
  });
});
