import { defineBot } from "parley";
import { z } from "zod";

const config = z.object({
  rules: z.string().trim().min(1).default("Be kind, no advertising, questions are welcome."),
  /** So many who are in make it happen. */
  enough: z.number().int().min(2).max(100).default(4),
});

const ASKS = "Who is in? ";
const IN = "I am in";

/**
 * Helps in groups. It speaks only when it is called by a command or mentioned, and once when enough people are in: a bot
 * that answers every sentence is thrown out of the group.
 */
export default defineBot(
  { enable: "bound", chats: ["group"], config, limits: { repliesPerChat: "6/min" } },
  (b) => {
    b.command("rules", (ctx) => ctx.reply(ctx.config.rules, { quote: true }));

    b.command("who", (ctx) => {
      const what = ctx.match.rest;
      if (what === "" || what.length > 200)
        return ctx.reply("Write what for: /who football on Friday, 19:00");
      return ctx.poll(ASKS + what, [IN, "Not this time"]);
    });

    b.on("poll:vote", (ctx) => {
      const { name, options, selected } = ctx.message.poll;
      if (!name?.startsWith(ASKS)) return ctx.next();
      const voters = options?.find((option) => option.name === IN)?.voters ?? [];
      // Only the vote that makes it enough says so.
      if (voters.length !== ctx.config.enough || !selected?.includes(IN)) return;
      const names = voters.map((voter) => `@${voter.split("@")[0]}`).join(" ");
      ctx.reply(`We are ${voters.length} for ${name.slice(ASKS.length)}: ${names}`, { mentions: voters });
    });

    // Somebody called the number by its name in a sentence. Mentions of other people are none of its business.
    b.on("mention", (ctx) => {
      if (!ctx.message.mentions.includes(ctx.number)) return ctx.next();
      ctx.reply("I know /rules and /who.", { quote: true });
    });
  },
);
