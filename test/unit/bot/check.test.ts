import { describe, expect, it } from "vitest";
import { checkBots } from "../../../src/bot/files/check.ts";
import type { Routes } from "../../../src/bot/index.ts";

const file = (id: string, exported: unknown, name = `bots/${id}.ts`) => ({
  id,
  file: name,
  open: async () => exported,
});
const none = () => undefined;
const word = (b: Routes) => b.keyword("menu", none);
const all = (b: Routes) => b.fallback(none);

describe("what the build says of bots", () => {
  it("is nothing when all is well, also of bound bots that might stand beside one another", async () => {
    const bound = { enable: "bound", routes: word };
    expect(await checkBots([file("a", bound), file("b", bound), file("c", word)])).toEqual([]);
  });

  it("names files that are no bots, ids that are taken and options that nobody knows", async () => {
    const broken = { ...file("broken", null), open: () => Promise.reject(new Error("no database")) };
    expect(
      await checkBots([
        file("a", word, "bots/a.js"),
        file("a", word, "bots/a.ts"),
        broken,
        file("odd", { priorty: 1, enable: "bound", routes: word }),
      ]),
    ).toEqual([
      'bots/a.ts is not loaded: bots/a.js already has the id "a". Rename one of them.',
      expect.stringMatching(
        /^bots\/broken\.ts could not be loaded as a bot: Error: no database \(check\.test\.ts:\d+\)$/,
      ),
      'bots/odd.ts: Option "priorty" is not known and is ignored. Did you mean "priority"?',
    ]);
  });

  it("names who hides whom, and a fallback that shuts the webhook out", async () => {
    const problems = await checkBots([
      file("first", { priority: 1, routes: word }),
      file("second", word),
      file("late", { priority: 90, routes: (b: Routes) => b.keyword("late", none) }),
      file("all", { priority: 80, routes: all }),
      file("alone", { enable: "bound", routes: all }),
    ]);
    expect(problems).toEqual([
      'second (keyword:menu) is asked only when first (keyword:menu) passes: both take "menu".',
      expect.stringMatching(/^all \(fallback\) takes every message: the webhook/),
      "late (keyword:late) cannot be reached: all (fallback) takes everything before it.",
      expect.stringMatching(/^alone \(fallback\) takes every message: the webhook/),
    ]);
  });
});
