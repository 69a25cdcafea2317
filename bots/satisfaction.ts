import { defineBot } from "parley";
import { z } from "zod";

const QUESTION = "How did we do?";
const ANSWERS = { good: "Great 😀", fair: "Okay 😐", bad: "Not good 🙁" };

const config = z.object({
  /** Minutes after the end of a conversation. */
  askAfterMinutes: z.number().positive().max(10_080).default(10),
  /** Digits of a number that is told each vote; none is told without it. */
  reportTo: z
    .string()
    .regex(/^\d{7,15}$/, "must be the digits of a number")
    .optional(),
});

const session = z.object({ vote: z.string().nullable(), reported: z.boolean() });

export default defineBot(
  {
    enable: "bound",
    chats: ["dm"],
    config,
    session: { schema: session, initial: () => ({ vote: null, reported: false }), ttl: "90d" },
  },
  (b) => {
    b.keyword(["thanks", "thank you", "bye", "goodbye", "that is all"], (ctx) => {
      ctx.reply("You are welcome!");
      // Saying thanks again moves the timer, so that the question comes once and not in the middle.
      ctx.after(ctx.config.askAfterMinutes * 60_000, "ask");
    });

    b.timer("ask", (ctx) => {
      ctx.session = { vote: null, reported: false };
      ctx.poll(QUESTION, Object.values(ANSWERS));
    });

    b.on("poll:vote", (ctx) => {
      const { name, selected } = ctx.message.poll;
      // Another bot's poll.
      if (name !== QUESTION) return ctx.next();
      const vote = selected?.[0] ?? null;
      ctx.session.vote = vote;
      // Votes may be changed and taken back as often as somebody likes: thanked and handed over is once.
      if (vote === null || ctx.session.reported) return;
      ctx.session.reported = true;
      const { reportTo } = ctx.config;
      if (reportTo !== undefined) ctx.sendTo(reportTo, `${ctx.from.name || "Somebody"}: ${vote}`);
      if (vote === ANSWERS.bad)
        ctx.handoff({ for: "12h", say: "We are sorry to hear that. A person will write to you." });
      else ctx.reply("Thank you for telling us!");
    });
  },
);
