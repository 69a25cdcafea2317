import { defineBot } from "parley";
import { config, type Ctx } from "./assistant/_config.ts";
import { count, limitReached, refuse } from "./assistant/_limits.ts";
import { think } from "./assistant/_think.ts";
import { PERSON } from "./assistant/_tools.ts";

async function answer(ctx: Ctx): Promise<void> {
  const limit = await limitReached(ctx);
  if (limit !== null) return refuse(ctx, limit, "limit");
  // Whoever goes on writing while the model thinks gets one answer to all of it.
  const thought = await ctx.step("think", (signal) => think(ctx, signal), { newer: "restart" });
  // Each text that came while the model thought has ended a request, which costs as well.
  await count(ctx, thought.requests + ctx.texts - 1);
  if ("failed" in thought) return refuse(ctx, "away", thought.failed);
  if (thought.tool === PERSON) return ctx.handoff({ say: thought.text || ctx.t("assistant.handoff") });
  if (thought.text !== "") ctx.reply(thought.text);
  const tool = ctx.config.tools.find(({ name }) => name === thought.tool);
  if (tool === undefined) return;
  try {
    ctx.startIn(tool.bot, tool.flow, thought.input);
  } catch {
    return refuse(ctx, "away", `no flow ${tool.bot}/${tool.flow}`);
  }
}

/**
 * Answers with a language model that speaks OpenAI's chat API, on whatever server. It may begin the flows that `tools` lists, and
 * call a person; it sees this chat and nothing else. See docs/assistant.md.
 */
export default defineBot(
  { enable: "bound", priority: 95, config, needs: ["key"], limits: { timeout: "3m" } },
  (b) => {
    b.on("text", answer);
    b.on("voice", (ctx) => (ctx.config.voice === undefined ? ctx.next() : answer(ctx)));
  },
);
