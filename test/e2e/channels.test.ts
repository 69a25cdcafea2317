import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ChannelChange, SimulatorOptions } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

async function openShop(env: Record<string, string> = {}, simulator: SimulatorOptions = {}): Promise<World> {
  const world = await openWorld({ again: true, env, simulator });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const register = (world: World, channel: string) =>
  world.gateway.post("/channels", { sender: SHOP, channel }, { key: world.key });
const list = async (world: World) =>
  (await world.gateway.get(`/channels?sender=${SHOP}`, { key: world.key })).body;
const send = (world: World, number: string, message = "Hello, readers.") =>
  world.gateway.post("/send-message", { sender: SHOP, number, message }, { key: world.key });
const sentStanzas = (world: World) =>
  world.sim.countStanzas({ number: SHOP, device: 1, tag: "message", direction: "in" });

const bot = (chats: string, answer: string): string =>
  `export default { chats: ${chats}, routes(b) { b.keyword("hello", (ctx) => ctx.reply("${answer}")); } };`;

describe("a channel", () => {
  it("is registered by link or id, followed, listed, and let go", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "City news" });

    const added = await register(world, channel.link);
    expect(added.status).toBe(200);
    const record = { id: channel.id, name: "City news", role: "subscriber", can_send: false };
    expect(added.body.data).toEqual(record);
    expect((await world.sim.channel(channel.id)).followers).toEqual([SHOP]);
    expect((await register(world, channel.id)).body.data).toEqual(record);
    expect(await list(world)).toMatchObject({ total: 1, data: [record] });

    const path = `/channels/${channel.id}?sender=${SHOP}`;
    expect((await world.gateway.delete(path, { key: world.key })).status).toBe(200);
    expect((await world.sim.channel(channel.id)).followers).toEqual([]);
    expect(await list(world)).toMatchObject({ total: 0, data: [] });
    expect((await world.gateway.delete(path, { key: world.key })).status).toBe(404);
  });

  it("that does not exist, or is none, is not registered", async () => {
    const world = await openShop();

    const unknown = await register(world, "https://whatsapp.com/channel/0029VaNobodyKnowsThis");
    expect(unknown.status).toBe(422);
    expect(unknown.body.errors.code).toBe("NOT_ON_WHATSAPP");
    const noChannel = await register(world, "https://example.com/");
    expect(noChannel.status).toBe(400);
    expect(Object.keys(noChannel.body.errors.fields)).toEqual(["channel"]);
    expect((await list(world)).total).toBe(0);
  });

  it("takes texts of its admins; the send is told to be acknowledged", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
    expect((await register(world, channel.id)).body.data).toMatchObject({ role: "owner", can_send: true });

    const sent = await send(world, channel.id);

    expect(sent.status).toBe(200);
    expect(sent.body).toMatchObject({ state: "sent", results: [{ number: channel.id }] });
    expect(await world.sim.waitForPost(channel.id, { text: "Hello, readers." })).toMatchObject({
      id: sent.body.id,
      from: SHOP,
    });
  });

  it("refuses what its readers send before WhatsApp is asked, until they have become admins", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "City news", admins: [ANA] });
    await register(world, channel.id);
    const before = await sentStanzas(world);

    const refused = await send(world, channel.id);
    expect(refused.status).toBe(403);
    expect(refused.body.errors).toMatchObject({ code: "CANNOT_SEND", reason: "not_channel_admin" });
    expect(await sentStanzas(world)).toBe(before);

    await world.sim.changeChannel(channel.id, { addAdmins: [SHOP] });
    await until(async () => (await send(world, channel.id)).status === 200);
    await world.sim.waitForPost(channel.id, { from: SHOP });
    expect((await list(world)).data).toMatchObject([{ role: "admin", can_send: true }]);
  });

  it("that is not registered is asked about, and refused before it is sent to", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "City news" });

    const refused = await send(world, channel.id);

    expect(refused.status).toBe(403);
    expect(refused.body.errors).toMatchObject({ code: "CANNOT_SEND", reason: "not_channel_admin" });
    expect(await world.sim.channelPosts(channel.id)).toEqual([]);
  });

  it("takes no polls, and the caller is told so", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
    await register(world, channel.id);

    const poll = { sender: SHOP, number: channel.id, name: "Open?", option: ["Yes", "No"] };
    const refused = await world.gateway.post("/send-poll", poll, { key: world.key });

    expect(refused.status).toBe(502);
    expect(refused.body.errors).toMatchObject({
      code: "WHATSAPP_REFUSED",
      whatsapp_code: expect.any(Number),
    });
    const { body } = await world.gateway.get(`/messages/${refused.body.id}`, { key: world.key });
    expect(body.data).toMatchObject({ kind: "poll", state: "failed", error: { code: "WHATSAPP_REFUSED" } });
  });
});

describe("a registered channel", () => {
  it.each([
    ["today", {}],
    ["a year ago", { channelUpdates: false }],
  ])("follows what happens to it, with the service of %s", async (name, behaviour) => {
    const world = await openShop({}, { behaviour });
    const { id } = await world.sim.addChannel({ name: "City news", admins: [ANA] });
    await register(world, id);
    const steps: [ChannelChange, object][] = [
      [{ name: "Town news" }, { name: "Town news", role: "subscriber" }],
      [{ addAdmins: [SHOP] }, { role: "admin", can_send: true }],
      [{ picture: true, mute: [SHOP] }, { role: "admin" }],
      [{ removeAdmins: [SHOP] }, { role: "subscriber", can_send: false }],
      [{ unfollow: [SHOP] }, { role: "guest", can_send: false }],
      [{ follow: [SHOP] }, { role: "subscriber" }],
      [{ state: "deleted" }, { role: "guest", can_send: false }],
    ];
    // The form of the year before says of the last ones only that something has happened.
    for (const [change, expected] of name === "today" ? steps : steps.slice(0, 4)) {
      await world.sim.changeChannel(id, change);
      let [channel] = (await list(world)).data;
      const holds = () => Object.entries(expected).every(([key, value]) => channel[key] === value);
      await until(async () => (([channel] = (await list(world)).data), holds())).catch(() => undefined);
      expect(channel, JSON.stringify(change)).toMatchObject(expected);
    }
    expect((await world.gateway.delete(`/channels/${id}?sender=${SHOP}`, { key: world.key })).status).toBe(
      200,
    );
  });

  it("is asked for when WhatsApp says that channels are out of date", async () => {
    const world = await openShop();
    const { id } = await world.sim.addChannel({ name: "City news", admins: [ANA] });
    await register(world, id);
    // Nobody is told of it.
    (world.sim as LibrarySimulator).server.channels.all.get(id)!.name = "Town news";

    await world.sim.tellDirty(SHOP, "newsletter_metadata");

    await until(async () => (await list(world)).data[0].name === "Town news");
    const cleaned = { number: SHOP, device: 1, direction: "in", xmlns: "urn:xmpp:whatsapp:dirty" } as const;
    await until(async () => (await world.sim.countStanzas(cleaned)) > 0);
    expect((await list(world)).data).toMatchObject([{ id, role: "subscriber", can_send: false }]);
  });
});

describe("posts of a channel", () => {
  it("reach the webhook that wants them as event channel, and no other", async () => {
    const world = await openShop();
    const receiver = await startReceiver();
    const configure = (events?: string[]) =>
      world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, events }, { key: world.key });
    await configure();
    const channel = await world.sim.addChannel({ name: "City news" });
    await register(world, channel.id);

    const unwanted = await world.sim.postInChannel(channel.id, "nobody wants this");
    await until(async () => {
      const decisions = `/devices/${SHOP}/decisions?message=${unwanted.id}`;
      return (await world.gateway.get(decisions, { key: world.key })).body.total === 1;
    });
    await configure(["message", "channel"]);
    const { id } = await world.sim.postInChannel(channel.id, "Rain tomorrow.");

    await until(() => receiver.events.length > 0);
    expect(receiver.events.map(({ body }) => body)).toMatchObject([
      { type: "channel", id, message: "Rain tomorrow.", from: channel.id, chat: channel.id, is_group: false },
    ]);
  });

  it("that are the same text twice are two, and survive a crash before they were stored", async () => {
    const world = await openShop();
    const receiver = await startReceiver();
    const body = { url: receiver.url, events: ["channel"] };
    await world.gateway.put(`/devices/${SHOP}/webhook`, body, { key: world.key });
    const channel = await world.sim.addChannel({ name: "City news" });
    await register(world, channel.id);

    const first = await world.sim.postInChannel(channel.id, "Good morning.");
    await until(() => receiver.events.length === 1);
    await world.gateway.restart({ CRASH_AT: "after-receive-commit" });
    await world.online(SHOP);
    const second = await world.sim.postInChannel(channel.id, "Good morning.");
    await world.gateway.exited();
    await world.gateway.restart({ CRASH_AT: "" });

    await until(() => receiver.events.length === 2);
    expect(receiver.events.map(({ body: event }) => event.id)).toEqual([first.id, second.id]);
  });

  it("are answered only by bots that listen to channels, and our own posts by nobody", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
    onTestFinished(() => removeFolder(folder));
    writeFileSync(join(folder, "people.mjs"), bot('["dm", "group"]', "from people"));
    writeFileSync(join(folder, "readers.mjs"), bot('["channel"]', "hello"));
    const world = await openShop({ BOTS_DIR: folder });
    const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
    await register(world, channel.id);

    await world.sim.postInChannel(channel.id, "hello");
    await world.sim.waitForPost(channel.id, { from: SHOP });
    await world.sim.sendText(ANA, SHOP, "hello");
    await world.sim.waitForMessage(ANA, { text: "from people" });
    await world.sim.settle();

    expect(await world.sim.channelPosts(channel.id, { from: SHOP })).toMatchObject([{ text: "hello" }]);
  });
});
