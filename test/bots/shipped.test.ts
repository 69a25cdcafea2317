import { describe, expect, it } from "vitest";
import { findConflicts } from "../../src/bot/conflicts.ts";
import { loadBots } from "../../src/bot/load.ts";
import { buildTable } from "../../src/bot/table.ts";
import { validate } from "../../src/bot/standard-schema.ts";
import { listeningLog } from "../unit/bot/messages.ts";
import { locales, shipped } from "./shipped.ts";

const { log } = listeningLog();
const { registry } = await loadBots({ buildTime: shipped, botsDir: null, log });

/** Keys of all texts, joined by dots. */
const keysOf = (value: unknown, key = ""): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => keysOf(inner, key === "" ? name : `${key}.${name}`))
    : [key];

describe("the bots in bots/", () => {
  it("all load", () => {
    expect(registry.list().filter(({ error }) => error)).toEqual([]);
    expect(registry.bots.map(({ id }) => id)).toEqual([
      "contact-card",
      "group-helper",
      "lead-form",
      "menu",
      "opening-hours",
      "order-status",
      "ping",
      "satisfaction",
      "shop",
    ]);
  });

  it("answer nobody's customers by themselves, and leave the rest to the webhook", () => {
    for (const bot of registry.bots) {
      expect(bot.enable).toBe("bound");
      expect(bot.routes.map(({ kind }) => kind)).not.toContain("fallback");
    }
  });

  it("can all be bound as they are, without settings", async () => {
    for (const { id, config } of registry.bots)
      expect(config === null ? {} : await validate(config, {}), id).not.toHaveProperty("problems");
  });

  it("do not take words from one another", () => {
    const active = registry.bots.map((bot) => ({ bot, priority: bot.priority, config: {} }));
    expect(findConflicts(buildTable(active).active).map(({ text }) => text)).toEqual([]);
  });

  it("have the same texts in every language", () => {
    const keys = keysOf(locales["en"]).toSorted();
    expect(Object.keys(locales)).toEqual(["en", "es", "pt"]);
    for (const texts of Object.values(locales)) expect(keysOf(texts).toSorted()).toEqual(keys);
  });
});
