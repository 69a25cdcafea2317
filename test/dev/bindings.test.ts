import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const CAFE = "31600000002";
/** The bot that is bound here. Every path says the name that the settings give. */
const BOT = `const config = { "~standard": { version: 1, vendor: "test", validate: (value) =>
  typeof value.name === "string" ? { value } : { issues: [{ message: "must be a text", path: ["name"] }] } } };
export default { enable: "bound", config, routes(b) {
  const form = b.form("ask", { size: b.fields.text("Which size?") }, (ctx) => ctx.reply("form " + ctx.config.name));
  b.keyword("ask", (ctx) => ctx.start(form));
  b.keyword("route", (ctx) => ctx.reply("route " + ctx.config.name));
  b.interrupt("stop now", (ctx) => ctx.reply("interrupt " + ctx.config.name));
  b.keyword("later", (ctx) => { ctx.after("12s", "later"); ctx.reply("noted"); });
  b.timer("later", (ctx) => ctx.reply("timer " + ctx.config.name));
} };`;

let world: World;
let botsDir: string;
let people = 0;

beforeAll(async () => {
  botsDir = mkdtempSync(join(tmpdir(), "parley-bots-"));
  writeFileSync(join(botsDir, "paths.mjs"), BOT);
  world = await keepWorld({ env: { BOTS_DIR: botsDir } });
  await world.link(SHOP);
  await world.link(CAFE);
});

afterAll(async () => {
  await closeWorld(world);
  removeFolder(botsDir);
});

async function bind(number: string, binding: object, method: "put" | "patch" = "patch") {
  return world.gateway[method](`/devices/${number}/bots`, { bots: [{ id: "paths", ...binding }] }, world);
}

async function set(number: string, binding: object): Promise<void> {
  expect((await bind(number, binding)).status).toBe(200);
}

/** Somebody new, who writes to a number and hears each answer once. */
async function person(number: string) {
  people += 1;
  const contact = `4915100000${String(people).padStart(3, "0")}`;
  await world.sim.addContact(contact, { name: `Person ${people}` });
  let since = 0;
  const hears = async (): Promise<string> => {
    const message = await world.sim.waitForMessage(contact, { from: number, since }, 45_000);
    since = message.seq;
    return message.text ?? "";
  };
  return {
    hears,
    async says(text: string): Promise<string> {
      await world.sim.sendText(contact, number, text);
      return hears();
    },
  };
}

describe("a binding that changes is in force at once", () => {
  it("for routes, interrupts and the dialogue that is under way", async () => {
    const receiver = await startReceiver({ message: "webhook" });
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, world);
    await set(SHOP, { enabled: true, config: { name: "A" } });
    const [ana, ben] = [await person(SHOP), await person(SHOP)];
    expect(await ana.says("route")).toBe("route A");
    expect(await ana.says("stop now")).toBe("interrupt A");
    for (const somebody of [ana, ben]) expect(await somebody.says("ask")).toBe("Which size?");

    await set(SHOP, { config: { name: "B" } });
    expect(await ana.says("large")).toBe("form B");
    expect(await ana.says("route")).toBe("route B");
    expect(await ana.says("stop now")).toBe("interrupt B");

    await set(SHOP, { enabled: false });
    for (const text of ["large", "route", "stop now"]) expect(await ben.says(text)).toBe("webhook");

    await set(SHOP, { enabled: true });
    expect(await ana.says("route")).toBe("route B");
    await world.gateway.delete(`/devices/${SHOP}/webhook`, world);
  });

  it("for timers that are set already", async () => {
    for (const number of [CAFE, SHOP]) await set(number, { enabled: true, config: { name: "A" } });
    const [silent, told] = [await person(CAFE), await person(SHOP)];
    expect(await silent.says("later")).toBe("noted");
    expect(await told.says("later")).toBe("noted");
    await set(CAFE, { enabled: false });
    await set(SHOP, { config: { name: "C" } });
    expect(await told.hears()).toBe("timer C");
    // Its timer was due before the other's. On again, what arrives next is no word of the timer.
    await set(CAFE, { enabled: true });
    expect(await silent.says("route")).toBe("route A");
  });

  it.each(["put", "patch"] as const)(
    "unless the bot's own schema refuses its settings: %s changes nothing then",
    async (method) => {
      await set(SHOP, { enabled: true, config: { name: "A" } });
      for (const config of [{ name: 5 }, {}, null]) {
        const refused = await bind(SHOP, { enabled: true, config }, method);
        expect(refused.status).toBe(400);
        expect(refused.body["errors"].fields.bots[0]).toMatch(/^Bot "paths": config .*must be a text/);
      }
      expect(await (await person(SHOP)).says("route")).toBe("route A");
    },
  );
});
