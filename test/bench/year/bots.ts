import { defineBot, fields } from "../../../src/bot/index.ts";
import { createRegistry, type BotRegistry } from "../../../src/bot/files/registry.ts";
import type { Logger } from "../../../src/log.ts";

/** One that answers at once, and one that asks. */
const year = defineBot((b) => {
  const visit = b.form("visit", { day: fields.text("Which day?"), name: fields.text("Your name?") }, (ctx) =>
    ctx.reply("We expect you."),
  );
  b.keyword("order", (ctx) => ctx.reply("Your order is on its way."));
  b.keyword("visit", (ctx) => ctx.start(visit));
});

/** The bots of the year. */
export const createBots = (log: Logger): BotRegistry =>
  createRegistry([{ id: "year", file: "year", exported: year }], log);
