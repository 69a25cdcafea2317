import type { Ctx } from "./_config.ts";

/** Why somebody is not answered by the model: too much for one person, too much for a day, or the model is away. */
export type Refusal = "person" | "day" | "away";

interface Day {
  day: string;
  count: number;
}

const EVERYBODY = "everybody";
const dayOf = (ctx: Ctx): string => new Date(ctx.now()).toISOString().slice(0, 10);

async function countOf(ctx: Ctx, key: string): Promise<number> {
  const kept = await ctx.store.get<Day>(`day/${key}`);
  return kept?.day === dayOf(ctx) ? kept.count : 0;
}

/** @returns which limit is reached; null: none */
export async function limitReached(ctx: Ctx): Promise<Refusal | null> {
  const { perPersonAndDay, perDay } = ctx.config;
  if ((await countOf(ctx, ctx.from.id)) >= perPersonAndDay) return "person";
  return (await countOf(ctx, EVERYBODY)) >= perDay ? "day" : null;
}

/** Counts requests, with the message's own commit: a crash neither counts them twice nor forgets them. */
export async function count(ctx: Ctx, requests: number): Promise<void> {
  for (const key of [ctx.from.id, EVERYBODY])
    ctx.store.set(
      `day/${key}`,
      { day: dayOf(ctx), count: (await countOf(ctx, key)) + requests },
      { ttl: "2d" },
    );
}

/**
 * Says why there is no answer: once to a person in six hours, and once to the owner in an hour. What the person wrote stays in the
 * chat, and the model sees it with the next message.
 *
 * @param why a word for the owner: `HTTP 401`, `timeout`; nothing that anybody wrote
 */
export async function refuse(ctx: Ctx, refusal: Refusal, why: string): Promise<void> {
  const said = `said/${refusal}/${ctx.from.id}`;
  if ((await ctx.store.get(said)) === null) {
    ctx.reply(ctx.t(`assistant.${refusal}`));
    ctx.store.set(said, true, { ttl: "6h" });
  }
  ctx.log.warn({ refusal, why }, "the assistant did not answer");
  const told = `told/${refusal}`;
  if (refusal === "person" || (await ctx.store.get(told)) !== null) return;
  ctx.store.set(told, true, { ttl: "1h" });
  if (ctx.config.owner !== undefined) ctx.sendTo(ctx.config.owner, ctx.t("assistant.owner", { why }));
}
