import { describe, expect, it } from "vitest";
import { fasterClock } from "../_setup/fake-clock.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const HOUR = 3600;
const EVERYTHING = ["message", "edit", "revoke", "reaction"];

async function listening(world: World, more: object = {}): Promise<Receiver> {
  const receiver = await startReceiver();
  const config = { url: receiver.url, mode: "always", events: EVERYTHING, ...more };
  const put = await world.gateway.put(`/devices/${SHOP}/webhook`, config, { key: world.key });
  expect(put.status).toBe(200);
  return receiver;
}

async function shop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: true, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.bindBots(SHOP, "ping");
  return world;
}

const pongs = async (world: World, contact = ANA): Promise<number> =>
  (await world.sim.messages(contact)).filter(({ text }) => text === "pong").length;
const eventsOf = (receiver: Receiver, id: string): string[] =>
  receiver.events.filter(({ body }) => body.id === id).map(({ body }) => body.type);
const idle = (world: World): Promise<void> =>
  until(async () => (await world.sim.pending(SHOP, 1)) === 0, 60_000);

describe("a message is answered once", () => {
  it("although it comes again as it was, encrypted anew, and as one that waited", async () => {
    const world = await shop();
    const receiver = await listening(world);
    const { id } = await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);

    for (const as of ["same", "retry", "send"] as const)
      for (const offline of [false, true])
        await world.sim.faults.redeliver({ number: SHOP, id, as, offline });
    await idle(world);
    const last = await world.sim.sendText(ANA, SHOP, "ping");

    await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong", count: 2 }, 60_000);
    await until(() => eventsOf(receiver, last.id).length === 1);
    expect(await pongs(world)).toBe(2);
    expect(eventsOf(receiver, id)).toEqual(["text"]);
  });

  it("when the owner's phone has to send it, and across a kill between placeholder and question", async () => {
    const world = await shop();
    const { sim, gateway } = world;
    await sim.sendText(ANA, SHOP, "ping");
    await sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);

    await sim.faults.placeholders({ number: SHOP, n: 1 });
    const { id } = await sim.sendText(ANA, SHOP, "ping");
    const acks = { number: SHOP, device: 1, direction: "in", tag: "ack", id } as const;
    await until(async () => (await sim.countStanzas(acks)) === 1);
    await gateway.kill();
    await gateway.restart();
    await world.online(SHOP, 60_000);

    await sim.waitForMessage(ANA, { from: SHOP, text: "pong", count: 2 }, 60_000);
    await sim.faults.redeliver({ number: SHOP, id, as: "send" });
    await idle(world);
    await sim.sendText(ANA, SHOP, "ping");
    await sim.waitForMessage(ANA, { from: SHOP, text: "pong", count: 3 }, 60_000);
    expect(await pongs(world)).toBe(3);
  });
});

describe("edits and revokes", () => {
  it("of a message that waits, of one that is answered, and of an edit are told and answered by no bot", async () => {
    const world = await shop();
    const { sim, gateway } = world;
    const receiver = await listening(world);

    const answered = await sim.sendText(ANA, SHOP, "ping");
    await sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);
    const edit = await sim.edit(ANA, answered.id, "ping");
    const again = await sim.edit(ANA, answered.id, "ping");
    await gateway.stop();
    const waiting = await sim.sendText(ANA, SHOP, "hello");
    const early = await sim.edit(ANA, waiting.id, "ping");
    const gone = await sim.sendText(ANA, SHOP, "something else");
    const revoke = await sim.revoke(ANA, gone.id);
    await gateway.restart();
    await world.online(SHOP, 60_000);

    const kinds = { [edit.id]: "edit", [again.id]: "edit", [waiting.id]: "text", [early.id]: "edit" };
    Object.assign(kinds, { [gone.id]: "text", [revoke.id]: "revoke" });
    await until(() => Object.keys(kinds).every((id) => eventsOf(receiver, id).length > 0), 60_000);
    for (const [id, kind] of Object.entries(kinds)) expect(eventsOf(receiver, id)).toEqual([kind]);
    await sim.sendText(ANA, SHOP, "ping");
    await sim.waitForMessage(ANA, { from: SHOP, text: "pong", count: 2 }, 60_000);
    expect(await pongs(world)).toBe(2);
  });

  it("that come before their message are kept, and the message is answered as it was written", async () => {
    const world = await shop();
    const { sim } = world;
    const receiver = await listening(world);
    await sim.faults.reorderStanzas({ number: SHOP, n: 3, order: [2, 1, 0] });
    const { id } = await sim.sendText(ANA, SHOP, "ping");
    const edit = await sim.edit(ANA, id, "hello");
    const revoke = await sim.revoke(ANA, id);

    await sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);
    await until(() => receiver.events.length === 3, 60_000);
    expect(receiver.events.map(({ body }) => [body.id, body.type, body.target_id])).toEqual([
      [revoke.id, "revoke", id],
      [edit.id, "edit", id],
      [id, "text", null],
    ]);
    expect(await pongs(world)).toBe(1);
  });

  it("that come before their message have their text in its record as soon as it is there", async () => {
    const world = await shop();
    const { sim, gateway, key } = world;
    await sim.faults.reorderStanzas({ number: SHOP, n: 2, order: [1, 0] });
    const { id } = await sim.sendText(ANA, SHOP, "at noon");
    await sim.edit(ANA, id, "at one");

    const listed = async () => {
      const { body } = await gateway.get(`/messages?sender=${SHOP}`, { key });
      return body["data"].find((one: Record<string, unknown>) => one["id"] === id);
    };
    await until(async () => (await listed()) !== undefined, 60_000);
    expect(await listed()).toMatchObject({ message: "at one", edited: true });
  });
});

describe("the age of a message", () => {
  it("limits automatic answers alone: what is old is stored, and the webhook gets it", async () => {
    const world = await shop();
    const receiver = await listening(world, { reply_max_age: 600 });
    receiver.answer = { message: "Thank you." };
    await world.gateway.stop();
    const old = Math.floor(Date.now() / 1000) - 30 * 24 * HOUR;
    const { id } = await world.sim.sendText(ANA, SHOP, "ping", { timestamp: old });
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.gateway.restart();
    await world.online(SHOP, 60_000);

    await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);
    await until(() => receiver.events.length === 2);
    expect(receiver.events[0]!.body).toMatchObject({ id, message: "ping", timestamp: old });
    expect((await world.sim.messages(ANA)).map(({ text }) => text)).toEqual(["pong"]);
  });

  it.each([3 * HOUR, -3 * HOUR])(
    "is not misjudged when WhatsApp's clock is wrong by %i seconds",
    async (seconds) => {
      const world = await shop();
      const receiver = await listening(world, { mode: "fallback", reply_max_age: 600 });
      receiver.answer = { message: "Thank you." };
      await world.gateway.stop();
      await world.sim.faults.clockSkew({ number: SHOP, seconds });
      await world.sim.sendText(ANA, SHOP, "ping");
      await world.gateway.restart();
      await world.online(SHOP, 60_000);
      await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" }, 60_000);

      await world.sim.sendText(ANA, SHOP, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong", count: 2 }, 60_000);
      await world.sim.sendText(ANA, SHOP, "for the webhook");
      await world.sim.waitForMessage(ANA, { from: SHOP, text: "Thank you." }, 60_000);
      const off = receiver.events[0]!.body.timestamp - Math.floor(Date.now() / 1000);
      expect(Math.abs(off - seconds)).toBeLessThan(HOUR);
    },
  );
});

describe("a connection that is dead without being closed", () => {
  it("is noticed, and what was written meanwhile comes and is answered", async () => {
    // It is noticed within a minute of silence by the gateway's clock.
    const world = await shop(fasterClock(6));
    await world.sim.addContact(BEN);
    await world.sim.faults.halfOpen({ number: SHOP });
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.sendText(BEN, SHOP, "ping");

    for (const contact of [ANA, BEN])
      await world.sim.waitForMessage(contact, { from: SHOP, text: "pong" }, 150_000);
    for (const contact of [ANA, BEN]) expect(await pongs(world, contact), world.gateway.output()).toBe(1);
    const { body } = await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key });
    expect(body["data"].last_close.code, world.gateway.output()).toBe(408);
    await world.sim.faults.endHalfOpen({ number: SHOP });
  }, 200_000);
});
