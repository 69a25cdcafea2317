import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadBots } from "../../../src/bot/load.ts";
import { buildTable } from "../../../src/bot/table.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { asking, textsOf } from "./asking.ts";
import { listeningLog, stored } from "./messages.ts";

const folder = new URL("../../../bots/", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const buildTime = Object.fromEntries(
  files.map((file) => [
    file.replace(/\.ts$/, ""),
    () => import(/* @vite-ignore */ new URL(file, folder).href),
  ]),
);
const { log } = listeningLog();
const { registry } = await loadBots({ buildTime, botsDir: null, log });

/** A Wednesday, 12:00 UTC. */
const WEDNESDAY = Date.UTC(2026, 0, 7, 12);

async function answer(message: Partial<Incoming> | string, config = {}): Promise<string[] | null> {
  const table = buildTable(registry.bots.map((bot) => ({ bot, priority: bot.priority, config })));
  const ask = asking({ tableOf: () => table, log, now: () => WEDNESDAY });
  return textsOf(await ask(stored(typeof message === "string" ? { text: message } : message)));
}

describe("the bots in bots/", () => {
  it("all load", () => {
    expect(registry.list().filter(({ error }) => error)).toEqual([]);
    expect(registry.bots.map(({ id }) => id)).toEqual(["contact-card", "menu", "opening-hours", "ping"]);
  });

  it("answer nobody's customers by themselves, and leave the rest to the webhook", () => {
    for (const bot of registry.bots) {
      expect(bot.enable).toBe("bound");
      expect(bot.routes.map(({ kind }) => kind)).not.toContain("fallback");
    }
  });

  it.each([
    ["ping", ["pong"]],
    ["hi", [expect.stringMatching(/^Hello Ana!$/), expect.stringContaining("• hours")]],
    ["Menu", [expect.stringContaining("• contact")]],
    ["hours", [expect.stringContaining("Thursday: 09:00–20:00")]],
    ["open?", ["Today: On Wednesday we are open from 09:00 to 18:00."]],
    ["Are you open on Sunday?", ["On Sunday we are closed."]],
    ["contact", [expect.stringContaining("Parley Coffee")]],
    ["something that no bot knows", null],
  ])("%s", async (text, replies) => {
    expect(await answer(text)).toEqual(replies);
  });

  it("the card may be the number's own", async () => {
    expect(await answer("contact", { card: "Shop 2" })).toEqual(["Shop 2"]);
  });

  it("a shared contact is noted", async () => {
    const contacts = [{ name: "Ben", numbers: ["15550002"] }];
    expect(await answer({ type: "contact", text: "Ben", contacts })).toEqual(["Thank you, we noted Ben."]);
  });
});
