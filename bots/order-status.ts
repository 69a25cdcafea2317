import { defineBot, url } from "parley";
import { z } from "zod";

/** Where orders are looked up: `{order}` stands for the number. Without it the bot passes every message on. */
const config = z.object({
  lookupUrl: url({ including: "{order}" }).optional(),
});

/** What the shop's system answers. More fields do no harm. */
const Order = z.object({
  status: z.enum(["received", "packed", "shipped", "delivered", "cancelled"]),
  tracking: z.url().optional(),
});

const SENTENCES = {
  received: "has arrived and will be packed soon.",
  packed: "is packed and waits for the parcel service.",
  shipped: "is on its way.",
  delivered: "was delivered.",
  cancelled: "was cancelled.",
};

/** People wait for the answer: a shop that takes longer is told apart from an order that does not exist. */
const LOOKUP_TIME = "5s";

export default defineBot({ enable: "bound", config, limits: { timeout: "10s" } }, (b) => {
  // "Where is my order 1042?", "order #1042", "Order status 1042"
  b.match(/\border(?: status| number)? #?(\d{3,12})\b/i, async (ctx) => {
    const { lookupUrl } = ctx.config;
    if (lookupUrl === undefined) return ctx.next();
    const order = ctx.match[1]!;
    try {
      // Looking up twice does no harm, so this needs no ctx.step.
      const response = await ctx.fetch(lookupUrl.replace("{order}", order), { timeout: LOOKUP_TIME });
      if (response.status === 404)
        return ctx.reply(`We have no order ${order}. Is it the number in your confirmation e-mail?`);
      if (!response.ok) throw new Error(`The shop answered ${response.status}.`);
      const { status, tracking } = Order.parse(await response.json());
      ctx.reply(`Your order ${order} ${SENTENCES[status]}${tracking ? `\n${tracking}` : ""}`);
    } catch (error) {
      ctx.log.warn({ err: error }, "an order could not be looked up");
      ctx.reply("I cannot look that up at the moment. Please try again in a few minutes.");
    }
  });

  b.keyword(["order status", "where is my order"], (ctx) =>
    ctx.config.lookupUrl === undefined
      ? ctx.next()
      : ctx.reply("Write the order’s number, for instance: order 1042"),
  );
});
