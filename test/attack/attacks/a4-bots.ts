import { hostileTexts } from "../../_setup/hostile-texts.ts";
import type { Arena, Attack } from "../attack.ts";

const PATIENCE_MS = 60_000;

/** Binds bots to the attacker's number, and no others. */
async function bind({ gateway, attacker }: Arena, bots: { id: string; config?: object }[]): Promise<void> {
  const { status, body } = await gateway.put(
    `/devices/${attacker.number}/bots`,
    { bots: [...bots, { id: "ping" }].map((bot) => ({ ...bot, enabled: true })) },
    { key: attacker.key },
  );
  if (status !== 200) throw new Error(`binding was answered ${status}: ${JSON.stringify(body)}`);
}

/** Resolves when everything that was written before has been decided: a chat is answered in order. */
async function answered({ sim, attacker: { contact, number } }: Arena): Promise<void> {
  await sim.sendText(contact, number, "cancel");
  await sim.sendText(contact, number, "ping");
  await sim.waitForMessage(contact, { from: number, text: "pong" }, PATIENCE_MS);
}

/** Words that a bot listens to, as anybody may read them. */
async function wordsOf({ gateway, attacker }: Arena, id: string): Promise<string[]> {
  const { body } = await gateway.get("/bots", { key: attacker.key });
  const bots = body["data"] as { id: string; routes: { kind: string; pattern: string }[] }[];
  const { routes } = bots.find((bot) => bot.id === id)!;
  return routes
    .filter(({ kind }) => ["keyword", "command", "prefix", "word", "interrupt"].includes(kind))
    .map(({ pattern }) => pattern);
}

const writing = (id: string): Attack => ({
  name: `texts of 65,000 characters from WhatsApp to bots/${id}`,
  class: "A4",
  async run(arena) {
    const { sim, attacker, size } = arena;
    await bind(arena, id === "ping" ? [] : [{ id }]);
    const words = await wordsOf(arena, id);
    // Prefixes hand on what stands behind them: they come last in the list of some, and count most.
    const chosen =
      size === "full" ? words : [...words.slice(0, 1), ...words.filter((word) => word === "add")];
    for (const word of chosen.length > 0 ? chosen : ["hello"])
      for (const [, text] of hostileTexts(word)) await sim.sendText(attacker.contact, attacker.number, text);
    await answered(arena);
  },
});

/** In the middle of a form: answers are looked at by the bot's own rules. */
const answering = (id: string, config: object, before: string[]): Attack => ({
  name: `answers of 65,000 characters to the questions of bots/${id}`,
  class: "A4",
  async run(arena) {
    const { sim, attacker } = arena;
    await bind(arena, [{ id, config }]);
    for (const [, text] of hostileTexts("Ana")) {
      for (const word of before) await sim.sendText(attacker.contact, attacker.number, word);
      await sim.sendText(attacker.contact, attacker.number, text);
    }
    await answered(arena);
  },
});

export default [
  ...[
    "shop",
    "order-status",
    "lead-form",
    "menu",
    "opening-hours",
    "satisfaction",
    "contact-card",
    "group-helper",
    "ping",
  ].map(writing),
  answering("lead-form", { crmUrl: "http://127.0.0.1:9/leads" }, ["cancel", "quote", "Ana"]),
  answering("shop", {}, ["cancel", "add 1 mug", "checkout"]),
];
