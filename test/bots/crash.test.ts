// oxlint-disable vitest/expect-expect -- the chat expects
import { describe, expect, it } from "vitest";
import { crashEverywhere } from "../../src/testing/index.ts";
import { someOf } from "../_setup/length.ts";
import { STORIES } from "./crash-stories.ts";

describe("killed at every commit, people notice nothing:", () => {
  it.each(someOf(Object.entries(STORIES), 2))(
    "%s goes on as if nothing had happened",
    async (_, { bots, script, options = {} }) => {
      const { runs, commits } = await crashEverywhere(bots, script, options);
      expect(commits).toBeGreaterThan(3);
      expect(runs).toBe(2 * commits + 1);
    },
    300_000,
  );
});
