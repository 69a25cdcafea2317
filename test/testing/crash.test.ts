import { describe, expect, it } from "vitest";
import { defineBot, fields } from "parley";
import { crashEverywhere } from "parley/testing";

const lead = defineBot((b) => {
  const form = b.form(
    "lead",
    Object.fromEntries(
      ["a", "b", "c", "d", "e", "f", "g", "h"].map((key) => [key, fields.text(`Your ${key}?`)]),
    ),
    (ctx, answers) => ctx.reply(`Thanks ${Object.values(answers).join(" ")}`),
  );
  b.keyword("lead", (ctx) => ctx.start(form));
});

describe("crashEverywhere", () => {
  it("passes for a form", async () => {
    const report = await crashEverywhere([lead], async (chat) => {
      await chat.user("lead");
      for (const key of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
        await chat.expect(`Your ${key}?`);
        await chat.user(key);
      }
      await chat.expect("Thanks a b c d e f g h");
    });
    expect(report.commits).toBe(27);
  });
});
