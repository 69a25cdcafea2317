import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { differenceOf, playStory, readStory, type AnyBot } from "../../src/testing/index.ts";
import { repositoryRoot } from "../../src/config.ts";
import { locales, shipped } from "./shipped.ts";

const FOLDER = join(repositoryRoot(), "bots");
const stories = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".story.yaml"),
);

it("there are stories", () => expect(stories.length).toBeGreaterThan(0));

it.each(stories)("%s is answered as it says", async (file) => {
  const story = readStory(readFileSync(join(FOLDER, file), "utf8"), file);
  const ids = story.bots.length > 0 ? story.bots : [file.split(".", 1)[0]!];
  const bots = await Promise.all(
    ids.map(async (id) => [id, ((await shipped[id]!()) as { default: AnyBot }).default] as const),
  );
  const { lines, troubles } = await playStory(story, Object.fromEntries(bots), { locales });
  expect(differenceOf(story.lines, lines)?.lines.join("\n") ?? "").toBe("");
  expect(troubles).toEqual([]);
});
