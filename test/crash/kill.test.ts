import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

describe("killed while it sends", () => {
  it("a send by REST that was stored arrives once, although its caller never heard of it", async () => {
    const world = await openShop();
    await world.gateway.restart({ CRASH_AT: "before-ack" });
    await world.online(SHOP);

    const call = world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "ready" },
      { key: world.key },
    );
    await expect(call).rejects.toThrow("fetch failed");
    await world.gateway.exited();
    await world.gateway.restart({ CRASH_AT: "" });

    await world.sim.waitForMessage(ANA, { text: "ready" }, 30_000);
    await world.online(SHOP);
    await world.sim.settle();
    expect(new Set((await world.sim.messages(ANA)).map(({ id }) => id)).size).toBe(1);
  });
});

describe("a message that arrives again", () => {
  it("is answered once when the connection broke before its receipt", async () => {
    const world = await openShop();
    await world.bindBots(SHOP, "ping");
    await world.sim.faults.dropBeforeReceipt({ number: SHOP });

    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 30_000);
    await world.online(SHOP, 30_000);
    await world.sim.settle();

    expect(new Set((await world.sim.messages(ANA)).map(({ id }) => id)).size).toBe(1);
    await until(async () => (await world.sim.pending(SHOP)) === 0);
  });

  it("is answered once when every stanza comes twice", async () => {
    const world = await openShop();
    await world.bindBots(SHOP, "ping");
    await world.sim.faults.duplicateStanzas({ number: SHOP, n: 5 });

    for (let i = 1; i <= 5; i++) {
      await world.sim.sendText(ANA, SHOP, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, count: i });
    }
    await world.sim.settle();

    expect(await world.sim.messages(ANA, { from: SHOP })).toHaveLength(5);
  });
});

describe("while nobody was there", () => {
  it("50 messages that waited at the server are answered once each, in order", async () => {
    const world = await openShop();
    const receiver = await startReceiver(({ body }) => ({ message: `re: ${body.message}` }));
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
    await world.gateway.kill();
    const sent = Array.from({ length: 50 }, (_, i) => `message ${i}`);
    for (const text of sent) await world.sim.sendText(ANA, SHOP, text);

    await world.gateway.restart();
    await world.sim.waitForMessage(ANA, { from: SHOP, count: 50 }, 60_000);
    await world.sim.settle();

    const replies = (await world.sim.messages(ANA, { from: SHOP })).map(({ text }) => text);
    expect(replies).toEqual(sent.map((text) => `re: ${text}`));
  });
});
