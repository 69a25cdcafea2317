import { describe, expect, it } from "vitest";
import type { FailpointName } from "../../src/model/failpoint.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

const POINTS: Partial<Record<FailpointName, string>> = {
  "after-journal-commit": "between the commit of the message and its receipt",
  "after-inbox-commit": "between the inbox's commit and the decision",
  "after-reply-commit": "between the reply's commit and its sending",
  "before-ack": "between the sending of the reply and its ack",
};

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

/** Starts anew with a failpoint, lets Ana write, sees the process die by SIGKILL, starts it again without. */
async function crashWhileAnswering(world: World, point: FailpointName, text: string): Promise<void> {
  await world.gateway.restart({ CRASH_AT: point });
  await world.online(SHOP);
  await world.sim.sendText(ANA, SHOP, text);
  expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
  await world.gateway.restart({ CRASH_AT: "" });
  await world.online(SHOP);
}

describe("killed while it answers", () => {
  for (const [point, where] of Object.entries(POINTS) as [FailpointName, string][]) {
    it(`${where}: a bot's reply arrives once, under one id`, async () => {
      const world = await openShop();
      await world.bindBots(SHOP, "ping");
      await crashWhileAnswering(world, point, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 30_000);
      const first = await world.sim.messages(ANA, { from: SHOP });

      await world.sim.sendText(ANA, SHOP, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, since: first.at(-1)!.seq });
      await world.sim.settle();

      const replies = await world.sim.messages(ANA, { from: SHOP });
      expect(new Set(replies.map(({ id }) => id)).size).toBe(2);
      // WhatsApp may carry a repeated id twice; a phone shows it once.
      expect(replies.filter(({ ordinal }) => ordinal === 1)).toHaveLength(2);
    });

    it(`${where}: the webhook's reply arrives once, whatever the number of calls`, async () => {
      const world = await openShop();
      let calls = 0;
      const receiver = await startReceiver(() => ({ message: `call ${++calls}` }));
      await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
      await crashWhileAnswering(world, point, "hello");
      await world.sim.waitForMessage(ANA, { from: SHOP }, 30_000);
      await world.sim.settle();

      const replies = await world.sim.messages(ANA, { from: SHOP });
      expect(new Set(replies.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
      expect(new Set(receiver.events.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    });
  }

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
    expect(await world.sim.pending(SHOP)).toBe(0);
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
