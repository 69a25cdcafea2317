import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineBot } from "../../../src/bot/index.ts";
import type { AnyContext } from "../../../src/bot/types.ts";
import { startBots } from "./harness.ts";

/** A bot that keeps what it is told, says what it has, and lays things in a list. */
const keeping = (session: object) =>
  defineBot({ session: session as never }, (b) => {
    b.prefix("keep", (ctx: AnyContext) => void (ctx.session = JSON.parse(ctx.text.slice("keep ".length))));
    b.keyword("what", (ctx: AnyContext) => ctx.reply(JSON.stringify(ctx.session)));
    b.prefix("add", (ctx: AnyContext) => {
      ctx.session.cart.push(ctx.match);
      ctx.reply(ctx.session.cart.join());
    });
  });

/** Stored by one version of a bot, then read by the next. */
async function deployed(stored: unknown, before: object, now: object) {
  const bots = await startBots({ shop: keeping(before) });
  await bots.say(`keep ${JSON.stringify(stored)}`);
  await bots.kill({ shop: keeping(now) });
  return bots;
}

const cart = z.object({ cart: z.array(z.string()), prefs: z.object({ lang: z.string() }) });
const initial = () => ({ cart: [], prefs: { lang: "en" } });

describe("a session that was stored by other code", () => {
  it("gets what is missing from initial(), at any depth when there is a schema, and keeps all it has", async () => {
    const now = { schema: cart.extend({ n: z.number() }), initial: () => ({ ...initial(), n: 1 }) };
    const bots = await deployed({ cart: ["mug"], prefs: {} }, { initial: () => ({}) }, now);
    await bots.say("what");
    await bots.say("add tea");
    expect(bots.heard()).toEqual([JSON.stringify({ cart: ["mug"], prefs: { lang: "en" }, n: 1 }), "mug,tea"]);
    expect(bots.log.text()).not.toContain("starts over");
  });

  it("gets outermost keys that are missing without a schema: what is data further in stays gone", async () => {
    const now = { initial: () => ({ cart: ["free sample"], lines: { mug: 1 } }) };
    const bots = await deployed({ lines: {} }, { initial: () => ({}) }, now);
    await bots.say("what");
    expect(bots.heard()).toEqual([JSON.stringify({ cart: ["free sample"], lines: {} })]);
  });

  it("goes through migrate when initial() beneath it does not make it fit", async () => {
    const migrate = (old: { cart: string }) => ({ cart: old.cart.split(" ") });
    const bots = await deployed(
      { cart: "mug tea" },
      { initial: () => ({}) },
      { schema: cart, initial, migrate },
    );
    await bots.say("what");
    expect(bots.heard()).toEqual([JSON.stringify({ cart: ["mug", "tea"], prefs: { lang: "en" } })]);
  });

  it("begins anew when nothing makes it fit, which the log says without a word of it", async () => {
    const bots = await deployed({ cart: "secret mug" }, { initial: () => ({}) }, { schema: cart, initial });
    await bots.say("what");
    expect(bots.heard()).toEqual([JSON.stringify(initial())]);
    expect(bots.log.text()).toMatch(/starts over/);
    expect(bots.log.text()).toMatch(/"misfits":\["cart","prefs"\]|"misfits":\["cart"\]/);
    expect(bots.log.text()).not.toContain("secret");
    // Nothing was stored over it: the code of before finds it again.
    await bots.kill({ shop: keeping({ initial: () => ({}) }) });
    await bots.say("what");
    expect(bots.heard()).toEqual([JSON.stringify({ cart: "secret mug" })]);
  });

  it("is not lost to a migrate that gives what the schema refuses: the handler fails and names the key", async () => {
    const migrate = () => ({ cart: 7 });
    const bots = await deployed({ cart: "mug" }, { initial: () => ({}) }, { schema: cart, initial, migrate });
    expect(await bots.say("what")).toMatchObject({
      trail: [{ outcome: "failed", detail: "SessionRefused" }],
    });
    expect(bots.log.text()).toMatch(/`migrate` made does not fit its schema: cart/);
    await bots.kill({ shop: keeping({ initial: () => ({}) }) });
    await bots.say("what");
    expect(bots.heard()).toEqual([JSON.stringify({ cart: "mug" })]);
  });
});
