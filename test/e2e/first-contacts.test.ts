import { expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const HOURS_24 = 24 * 60 * 60;

async function openShop() {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  const get = async (path: string) => (await world.gateway.get(path, { key: world.key })).body["data"];
  return {
    world,
    recordOf: () => get(`/devices/${SHOP}`),
    whyOf: () => get(`/devices/${SHOP}/why`),
    send: (number: string) =>
      world.gateway.post("/send-message", { sender: SHOP, number, message: "hello" }, { key: world.key }),
  };
}

it("a lock on first contacts is told with WhatsApp's end and word, everywhere, until it ends", async () => {
  const { world, recordOf, whyOf, send } = await openShop();
  const receiver = await startReceiver();
  const settings = { url: receiver.url, events: ["device"] };
  await world.gateway.put(`/devices/${SHOP}/webhook`, settings, { key: world.key });
  expect(await recordOf()).toMatchObject({ reachout: null });

  // Before anything was refused: WhatsApp says so by itself.
  await world.sim.faults.reachoutTimelock({ number: SHOP, seconds: HOURS_24, type: "BIZ_QUALITY" });
  await until(async () => (await recordOf()).reachout !== null);

  const { reachout } = await recordOf();
  expect(reachout).toMatchObject({ reason: "BIZ_QUALITY" });
  const seconds = (Date.parse(reachout.locked_until) - Date.now()) / 1000;
  expect(seconds).toBeGreaterThan(HOURS_24 - 120);
  expect(seconds).toBeLessThanOrEqual(HOURS_24);
  expect((await whyOf()).reachout).toEqual(reachout);
  const refused = await send(ANA);
  expect(refused.status).toBe(502);
  expect(refused.body).toMatchObject({ errors: { code: "REACHOUT_LOCKED", until: reachout.locked_until } });
  await until(() => receiver.events.length > 0);
  expect(receiver.events[0]!.body).toMatchObject({
    type: "device",
    state: "connected",
    reason: "reachout_locked",
    until: reachout.locked_until,
  });

  await world.gateway.restart();
  await world.online(SHOP);
  expect((await recordOf()).reachout).toEqual(reachout);
  expect((await whyOf()).reachout).toEqual(reachout);

  await world.sim.faults.reachoutTimelock({ number: SHOP, seconds: 0 });
  await until(async () => (await recordOf()).reachout === null);
  expect((await send(ANA)).body).toMatchObject({ state: "sent" });
  await until(() => receiver.events.some(({ body }) => body["reason"] === null && body["until"] === null));
});

it("a lock that nobody was told of is asked about when it refuses the first message", async () => {
  const { world, recordOf, send } = await openShop();
  expect(await recordOf()).toMatchObject({ reachout: null });
  await world.sim.faults.holdDeliveries({ number: SHOP });
  await world.sim.faults.reachoutTimelock({ number: SHOP, seconds: HOURS_24 });

  const refused = await send(ANA);

  const end = Date.parse(refused.body["errors"].until);
  expect(end - Date.now()).toBeGreaterThan((HOURS_24 - 120) * 1000);
  expect((await recordOf()).reachout.locked_until).toBe(refused.body["errors"].until);
  await world.sim.faults.releaseDeliveries({ number: SHOP });
});

it("the quota of new chats is shown, and its end is explained", async () => {
  const { world, recordOf, whyOf, send } = await openShop();
  await until(async () => (await recordOf()).new_chats !== null);
  expect((await recordOf()).new_chats).toEqual({ limit: null, used: 0, resets_at: null });

  await world.sim.faults.newChatQuota({ number: SHOP, total: 1 });
  await until(async () => (await recordOf()).new_chats.limit === 1);
  expect((await recordOf()).new_chats).toMatchObject({ used: 0, resets_at: expect.any(String) });
  expect(await whyOf()).toMatchObject({ state: "connected", reason: null });
  expect((await send(ANA)).body).toMatchObject({ state: "sent" });
  await until(async () => (await recordOf()).new_chats.used === 1);

  const why = await whyOf();
  expect(why).toMatchObject({ state: "connected", reason: "new_chats" });
  expect(why.advice).toContain("1 of 1");
  expect((await send(BEN)).body).toMatchObject({ errors: { code: "REACHOUT_LOCKED" } });
  // Chats that are there go on.
  expect((await send(ANA)).body).toMatchObject({ state: "sent" });
});
