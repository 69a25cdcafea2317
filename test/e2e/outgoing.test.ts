import { describe, expect, it, vi } from "vitest";
import {
  attempts,
  holdAcksOf,
  loseNextMessage,
  recordOf,
  sendText,
  SHOP,
  untilState,
} from "../_setup/outgoing.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

// Several starts and reconnects, on a machine that is busy with others.
vi.setConfig({ testTimeout: 240_000 });

const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: true, env: { SEND_WAIT_MS: "500", ...env } });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

const received = async ({ sim }: World, id: string): Promise<number> =>
  (await sim.messages(ANA, { id })).length;

describe("a message whose ack was lost", () => {
  it("is not sent again while WhatsApp still has to tell that it arrived", async () => {
    const world = await openShop();
    const { sim } = world;
    await sim.faults.holdAcks({ number: SHOP });
    await sim.faults.holdDeliveries({ number: SHOP });
    const { body } = await sendText(world, ANA, "once");
    expect(body).toMatchObject({ state: "queued" });
    await sim.waitForMessage(ANA, { id: body["id"] }, 30_000);

    await sim.faults.withholdOffline({ number: SHOP });
    await sim.faults.dropSocket({ number: SHOP });
    await until(async () => !(await sim.online(SHOP)));
    await sim.faults.releaseAcks({ number: SHOP });
    await world.online(SHOP);
    // The line works and is used, and the receipt is still on its way.
    const other = await sendText(world, BEN, "meanwhile");
    await untilState(world, other.body["id"], "sent");
    expect(await attempts(world, body["id"])).toBe(1);
    await sim.faults.releaseDeliveries({ number: SHOP });

    await untilState(world, body["id"], "delivered");
    expect(await attempts(world, body["id"])).toBe(1);
    expect(await received(world, body["id"])).toBe(1);
  });

  it("is settled by the receipt that waited while the gateway was dead", async () => {
    const world = await openShop();
    const { sim, gateway } = world;
    await sim.faults.holdAcks({ number: SHOP });
    await sim.faults.holdDeliveries({ number: SHOP });
    const { body } = await sendText(world, ANA, "once");
    await sim.waitForMessage(ANA, { id: body["id"] }, 30_000);
    await gateway.kill();
    await sim.faults.releaseAcks({ number: SHOP });
    await sim.faults.releaseDeliveries({ number: SHOP });

    await gateway.restart();

    await untilState(world, body["id"], "delivered");
    expect(
      (await recordOf(world, body["id"]))["history"].map(({ state }: { state: string }) => state),
    ).toEqual(["queued", "sent", "delivered"]);
    expect(await attempts(world, body["id"])).toBe(1);
  });

  it("goes out again under the same id when nobody has got it", async () => {
    const world = await openShop();
    const { sim } = world;
    loseNextMessage(world);
    const { body } = await sendText(world, ANA, "lost on the way");
    expect(body).toMatchObject({ state: "queued" });
    await until(async () => (await attempts(world, body["id"])) === 1);

    await sim.faults.dropSocket({ number: SHOP });

    expect(await sim.waitForMessage(ANA, { id: body["id"] }, 45_000)).toMatchObject({
      text: "lost on the way",
      ordinal: 1,
    });
    await untilState(world, body["id"], "delivered");
    expect(await attempts(world, body["id"])).toBe(2);
  });
});

describe("destinations that do not answer", () => {
  it("do not keep others waiting, though there are more of them than places for what answers nobody", async () => {
    const world = await openShop({ PACE_PER_MINUTE: "0", SEND_WAIT_MS: "0" });
    const { sim } = world;
    const stuck = await sim.addContacts(10, { prefix: "49152" });
    const release = holdAcksOf(world, stuck);
    // A receipt says as much as an ack does.
    await sim.faults.holdDeliveries({ number: SHOP });
    const { body } = await sendText(world, stuck.join("|"), "first");
    const ids: string[] = body["results"].map((result: { id: string }) => result.id);
    const free = await sendText(world, ANA, "free");

    await sim.waitForMessage(ANA, { id: free.body["id"] }, 45_000);

    // Nothing had to be given up for it: each of the stuck ones still waits for its first ack.
    for (const id of ids) expect(await attempts(world, id)).toBeLessThanOrEqual(1);
    release();
    await sim.faults.releaseDeliveries({ number: SHOP });
    for (const id of ids) await until(async () => (await recordOf(world, id))["state"] !== "queued");
  });

  it("keep their own order", async () => {
    const world = await openShop({ SEND_WAIT_MS: "0" });
    const release = holdAcksOf(world, [ANA]);
    await world.sim.faults.holdDeliveries({ number: SHOP });
    const texts = ["one", "two", "three"];
    for (const text of texts) await sendText(world, ANA, text);
    await world.sim.waitForMessage(ANA, { text: "one" }, 30_000);
    const { body } = await sendText(world, BEN, "beside");
    await world.sim.waitForMessage(BEN, { id: body["id"] }, 30_000);
    expect((await world.sim.messages(ANA)).map(({ text }) => text)).toEqual(["one"]);

    release();
    await world.sim.faults.releaseDeliveries({ number: SHOP });

    await world.sim.waitForMessage(ANA, { text: "three" }, 45_000);
    expect((await world.sim.messages(ANA)).map(({ text }) => text)).toEqual(texts);
  });
});

describe("replies and bulk", () => {
  it("a reply, and a send to who wrote today, go before 500 messages that wait", async () => {
    const world = await openShop({ SEND_WAIT_MS: "0", API_RATE_PER_MINUTE: "0" });
    const { sim } = world;
    await world.bindBots(SHOP, "ping");
    const crowd = await sim.addContacts(500, { prefix: "49153" });
    const bulk: string[] = [];
    for (let at = 0; at < crowd.length; at += 10) {
      const { body } = await sendText(world, crowd.slice(at, at + 10).join("|"), "news");
      bulk.push(...body["results"].map((result: { id: string }) => result.id));
    }

    await sim.sendText(ANA, SHOP, "ping");
    await sim.waitForMessage(ANA, { text: "pong" }, 45_000);
    const known = await sendText(world, ANA, "and one by REST");
    await sim.waitForMessage(ANA, { id: known.body["id"] }, 45_000);

    expect(await recordOf(world, bulk.at(-1)!)).toMatchObject({ state: "queued" });
    const last = await sim.messages(crowd.at(-1)!);
    expect(last).toEqual([]);
    await sim.waitForMessage(crowd[0]!, { text: "news" }, 45_000);
  });
});
