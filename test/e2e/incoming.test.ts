import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const EVERYTHING = ["message", "poll_vote", "reaction", "edit", "revoke", "own", "channel", "call"];

let world: World;
let receiver: Receiver;
let group: string;

beforeAll(async () => {
  world = await keepWorld();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  ({ id: group } = await world.sim.addGroup({ subject: "Guests", members: [SHOP, ANA, BEN] }));
});
afterAll(() => closeWorld(world));

beforeEach(async () => {
  receiver = await startReceiver();
  await listenTo(EVERYTHING);
});

async function listenTo(events?: string[]): Promise<void> {
  const config = { url: receiver.url, ...(events && { events }) };
  const put = await world.gateway.put(`/devices/${SHOP}/webhook`, config, { key: world.key });
  expect(put.status).toBe(200);
}

/** The event of a message that was sent; waits for it. */
async function eventOf(sent: Promise<{ id: string }>): Promise<Record<string, any>> {
  const { id } = await sent;
  let found: Record<string, any> | undefined;
  await until(() => {
    found = receiver.events.find(({ body }) => body.id === id)?.body;
    return found !== undefined;
  });
  return found!;
}

const contact = (name: string, number: string): { name: string; vcard: string } => ({
  name,
  vcard: `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=${number}:+${number}\nEND:VCARD`,
});

describe("the event of a message", () => {
  it("that is a text has every documented field and no other; what is absent is null", async () => {
    const event = await eventOf(world.sim.sendText(ANA, SHOP, "Hi"));

    expect(event).toEqual({
      message: "Hi",
      text: "Hi",
      bufferImage: null,
      from: ANA,
      id: event.id,
      pushName: "Ana",
      device: SHOP,
      chat: ANA,
      is_group: false,
      participant: null,
      from_lid: (await world.sim.contact(ANA)).lid,
      timestamp: event.timestamp,
      type: "text",
      expires_at: null,
      quoted: null,
      mentions: [],
      media: null,
      location: null,
      contacts: null,
      reaction: null,
      target_id: null,
      poll: null,
      handled_by: null,
    });
    expect(Number.isInteger(event.timestamp)).toBe(true);
  });

  it("in a chat whose messages disappear is answered by one that does", async () => {
    await world.bindBots(SHOP, "ping");
    await world.sim.setDisappearing(BEN, SHOP, 86_400);
    for (const _ of [1, 2]) await world.sim.sendText(BEN, SHOP, "ping");
    const pongs = async () =>
      (await world.sim.messages(BEN, { from: SHOP })).filter(({ text }) => text === "pong");
    await until(async () => (await pongs()).length === 2);
    expect((await pongs()).map(({ expiration }) => expiration)).toEqual([86_400, 86_400]);
    const sent = { sender: SHOP, number: BEN, name: "Lunch?", option: ["Pizza", "Soup"] };
    const poll = await world.gateway.post("/send-poll", sent, { key: world.key });
    expect(await world.sim.waitForMessage(BEN, { id: poll.body.id })).toMatchObject({ expiration: 86_400 });
    await world.sim.setDisappearing(BEN, SHOP, 0);
    await world.bindBots(SHOP);
  });

  it("that disappears: when, in the list of messages as well", async () => {
    const event = await eventOf(world.sim.sendText(ANA, SHOP, "Gone in a day", { expiration: 86_400 }));
    const at = new Date((event.timestamp + 86_400) * 1000).toISOString();
    expect(event).toMatchObject({ text: "Gone in a day", expires_at: at });
    const { body } = await world.gateway.get(`/messages?sender=${SHOP}&limit=5`, { key: world.key });
    const listed = body.data.find(({ id }: { id: string }) => id === event.id);
    expect(listed).toMatchObject({ id: event.id, expires_at: at });
    const plain = await eventOf(world.sim.sendText(ANA, SHOP, "Stays"));
    expect(plain.expires_at).toBeNull();
  });

  it("that quotes, and mentions somebody", async () => {
    const first = await eventOf(world.sim.sendText(ANA, group, "First"));
    const quoted = { id: first.id, participant: ANA, text: "First" };
    const event = await eventOf(
      world.sim.sendText(BEN, group, "@Ana see above", { quoted, mentions: [ANA] }),
    );

    expect(event).toMatchObject({
      from: BEN,
      chat: group,
      is_group: true,
      quoted: { id: first.id, from: ANA, text: "First" },
      mentions: [ANA],
    });
    expect(event.participant).toMatch(/@(lid|s\.whatsapp\.net)$/);
  });

  it("that is a place", async () => {
    const place = { latitude: 52.52, longitude: 13.4, name: "Gate", address: "Pariser Platz 1" };
    expect(await eventOf(world.sim.send(ANA, SHOP, { kind: "location", ...place }))).toMatchObject({
      type: "location",
      message: "Gate",
      location: place,
    });
    const { name: _, ...unnamed } = place;
    expect(await eventOf(world.sim.send(ANA, SHOP, { kind: "location", ...unnamed }))).toMatchObject({
      message: "Pariser Platz 1",
      location: { ...unnamed, name: null },
    });
  });

  it("that is one contact, or several", async () => {
    const one = [contact("Cem", "4915100000003")];
    expect(await eventOf(world.sim.send(ANA, SHOP, { kind: "contacts", contacts: one }))).toMatchObject({
      type: "contact",
      message: "Cem",
      contacts: [{ name: "Cem", numbers: ["4915100000003"] }],
    });
    const two = [...one, contact("Dora", "4915100000004")];
    expect(await eventOf(world.sim.send(ANA, SHOP, { kind: "contacts", contacts: two }))).toMatchObject({
      type: "contact",
      contacts: [
        { name: "Cem", numbers: ["4915100000003"] },
        { name: "Dora", numbers: ["4915100000004"] },
      ],
    });
  });

  it("that is a poll", async () => {
    const sent = world.sim.send(ANA, SHOP, { kind: "poll", name: "Lunch?", options: ["Pizza", "Soup"] });
    const event = await eventOf(sent);
    expect(event).toMatchObject({ type: "poll", message: "Lunch?", poll: { id: event.id, name: "Lunch?" } });
    expect(event.poll.options.map(({ name }: { name: string }) => name)).toEqual(["Pizza", "Soup"]);
  });

  it("that is a call, which the phone is spared when the number rejects calls; its caller is told so once", async () => {
    const first = world.sim.call(BEN, SHOP);
    expect(await eventOf(first)).toMatchObject({ type: "call", from: BEN, message: "", handled_by: null });
    const { id: ringing } = await first;
    expect(await world.sim.callState(SHOP, ringing)).toEqual({ state: "ringing" });
    await world.sim.endCall(BEN, SHOP, ringing);

    const settings = { calls: "reject", calls_text: "Please write." };
    const set = (calls: object) => world.gateway.patch(`/devices/${SHOP}`, calls, { key: world.key });
    expect((await set(settings)).body["data"]).toMatchObject(settings);
    for (const video of [false, true]) {
      const { id } = await eventOf(world.sim.call(BEN, SHOP, { video }));
      await until(async () => (await world.sim.callState(SHOP, id)).state === "rejected");
    }
    await world.sim.waitForMessage(BEN, { from: SHOP, text: "Please write." });
    await world.sim.settle();
    const told = (await world.sim.messages(BEN, { from: SHOP })).filter(
      ({ text }) => text === "Please write.",
    );
    expect(told).toHaveLength(1);
    expect((await set({ calls: "ignore", calls_text: "" })).status).toBe(200);
  });

  it("that is a reaction, and one withdrawn", async () => {
    const { id } = await eventOf(world.sim.sendText(ANA, SHOP, "Good?"));
    const ours = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "Yes." },
      { key: world.key },
    );
    await world.sim.waitForMessage(ANA, { id: ours.body.id });

    expect(await eventOf(world.sim.react(ANA, id, "👍"))).toMatchObject({
      type: "reaction",
      message: "👍",
      text: "👍",
      reaction: { id, emoji: "👍" },
    });
    expect(await eventOf(world.sim.react(ANA, ours.body.id, "🎉"))).toMatchObject({
      reaction: { id: ours.body.id, emoji: "🎉" },
    });
    expect(await eventOf(world.sim.react(ANA, id, ""))).toMatchObject({
      type: "reaction",
      message: "",
      text: "",
      reaction: { id, emoji: "" },
    });
  });

  it("that edits or revokes another one, from a person and in a group", async () => {
    for (const [writer, chat] of [
      [ANA, SHOP],
      [BEN, group],
    ] as const) {
      const { id } = await eventOf(world.sim.sendText(writer, chat, "Tomorow"));
      expect(await eventOf(world.sim.edit(writer, id, "Tomorrow"))).toMatchObject({
        type: "edit",
        message: "Tomorrow",
        text: "Tomorrow",
        target_id: id,
        from: writer,
      });
      expect(await eventOf(world.sim.revoke(writer, id))).toMatchObject({
        type: "revoke",
        message: "",
        target_id: id,
        from: writer,
      });
    }
  });
});

describe("which events are sent", () => {
  it("messages and votes by default, nothing of reactions, edits, revokes and the own phone", async () => {
    await listenTo();
    const { id } = await eventOf(world.sim.sendText(ANA, SHOP, "One"));
    await world.sim.react(ANA, id, "👍");
    await world.sim.edit(ANA, id, "Two");
    await world.sim.revoke(ANA, id);
    await world.sim.typeAsOwner(SHOP, ANA, "I write myself.");
    await eventOf(world.sim.sendText(ANA, SHOP, "Last"));

    expect(receiver.events.map(({ body }) => body.message)).toEqual(["One", "Last"]);
  });

  it("only those that are named", async () => {
    await listenTo(["reaction", "revoke"]);
    const { id } = await world.sim.sendText(ANA, SHOP, "One");
    await world.sim.edit(ANA, id, "Two");
    await world.sim.react(ANA, id, "👍");
    await eventOf(world.sim.revoke(ANA, id));

    expect(receiver.events.map(({ body }) => body.type)).toEqual(["reaction", "revoke"]);
  });

  it("what the owner types on the phone, with own; it is never answered", async () => {
    receiver.answer = { message: "An answer to the owner" };
    const own = await eventOf(world.sim.typeAsOwner(SHOP, ANA, "I write myself."));
    expect(own).toMatchObject({
      from: SHOP,
      chat: ANA,
      from_lid: null,
      message: "I write myself.",
      type: "text",
    });
    const place = { kind: "location", latitude: 1, longitude: 2, name: "Shop" } as const;
    expect(await eventOf(world.sim.sendAsOwner(SHOP, BEN, place))).toMatchObject({
      from: SHOP,
      chat: BEN,
      type: "location",
    });
    expect(await eventOf(world.sim.typeAsOwner(SHOP, group, "To all"))).toMatchObject({
      from: SHOP,
      chat: group,
      is_group: true,
    });

    const asked = await eventOf(world.sim.sendText(BEN, SHOP, "And me?"));
    await world.sim.waitForMessage(BEN, { from: SHOP, text: "An answer to the owner" });
    const { body } = await world.gateway.get("/deliveries", { key: world.key });
    const answered = body.data.filter((delivery: Record<string, any>) => delivery.reply?.ids.length > 0);
    expect(answered.map((delivery: Record<string, any>) => delivery.message_id)).toContain(asked.id);
    expect(answered.map((delivery: Record<string, any>) => delivery.message_id)).not.toContain(own.id);
    expect((await world.sim.messages(ANA)).filter(({ text }) => text?.startsWith("An answer"))).toEqual([]);
  });

  it("of what is sent over REST nothing comes back, and of status broadcasts nothing at all", async () => {
    const sent = { sender: SHOP, number: ANA, message: "From a shop system" };
    await world.gateway.post("/send-message", sent, { key: world.key });
    await world.sim.postStatus(ANA, "On holiday");
    await eventOf(world.sim.sendText(ANA, SHOP, "Last"));

    expect(receiver.events.map(({ body }) => body.message)).toEqual(["Last"]);
  });
});

describe("what was written", () => {
  const list = async (query: string, key = world.key) =>
    (await world.gateway.get(`/messages?sender=${SHOP}&${query}`, { key })).body;
  const newKey = async (limits: object): Promise<string> => {
    const made = await world.gateway.post(
      "/api-keys",
      { name: "few", permissions: ["messages"], ...limits },
      { key: world.key },
    );
    return made.body["api_key"];
  };

  it("is listed with both directions, newest first, in any form of the chat's address", async () => {
    receiver.answer = { message: "Until six." };
    await eventOf(world.sim.sendText(BEN, SHOP, "Until when?"));
    await world.sim.waitForMessage(BEN, { from: SHOP, text: "Until six." });
    await eventOf(world.sim.typeAsOwner(SHOP, BEN, "Or seven."));
    const { lid } = await world.sim.contact(BEN);

    await until(async () => (await list(`chat=${BEN}&limit=3`)).data[1]?.state !== "queued");
    for (const chat of [BEN, `+${BEN}`, `${BEN}@s.whatsapp.net`, lid]) {
      const page = await list(`limit=3&chat=${encodeURIComponent(chat)}`);
      expect(page.data).toMatchObject([
        { sender: SHOP, chat: BEN, direction: "out", from: SHOP, type: "text", message: "Or seven." },
        { chat: BEN, direction: "out", from: SHOP, message: "Until six.", answered_by: "webhook" },
        { chat: BEN, direction: "in", from: BEN, message: "Until when?", answered_by: "webhook" },
      ]);
      expect(page).toMatchObject({ status: true, total: null, next: expect.any(String) });
    }
    const [newest, second] = (await list(`chat=${BEN}`)).data;
    const { next } = await list(`chat=${BEN}&limit=1`);
    expect((await list(`chat=${BEN}&limit=1&before=${next}`)).data).toEqual([second]);
    expect((await list(`chat=${BEN}&before=${newest.at}`)).data[0].id).toBe(second.id);
  });

  it("is marked as edited and revoked", async () => {
    const { id } = await world.sim.sendText(ANA, SHOP, "Ten");
    await eventOf(world.sim.edit(ANA, id, "Eleven"));
    await eventOf(world.sim.revoke(ANA, id));

    const { data } = await list(`chat=${ANA}&direction=in`);
    const found = data.find(
      (message: { id: string; type: string }) => message.id === id && message.type === "text",
    );
    expect(found).toMatchObject({ message: "Eleven", edited: true, revoked: true });
  });

  it("is told to a key as far as it may read, and filters that mean nothing are refused", async () => {
    const onlyAna = await newKey({ recipients: [ANA] });
    await eventOf(world.sim.sendText(BEN, SHOP, "For those who may"));
    const chats = (await list("limit=100", onlyAna)).data.map((message: { chat: string }) => message.chat);
    expect(new Set(chats)).toEqual(new Set([ANA]));
    expect((await world.gateway.get("/chats", { key: onlyAna })).body.data).toMatchObject([{ chat: ANA }]);

    const groupsOnly = await newKey({ permissions: ["groups"] });
    expect((await world.gateway.get("/messages", { key: groupsOnly })).status).toBe(403);
    for (const query of [
      "limit=0",
      "limit=101",
      "before=soon",
      "chat=x",
      "direction=up",
      "state=lost",
      "since=today",
    ])
      expect(await list(query), query).toMatchObject({ errors: { code: "INVALID_PARAMETERS" } });
    const unknown = await world.gateway.get("/messages?sender=31600000009", { key: world.key });
    expect(unknown).toMatchObject({ status: 404, body: { errors: { code: "SENDER_NOT_FOUND" } } });
  });

  it("is listed by chats, which a person takes over and hands back", async () => {
    await world.bindBots(SHOP, "ping");
    const path = `/chats/${ANA}/takeover`;
    const taken = await world.gateway.post(path, { sender: SHOP, minutes: 5 }, { key: world.key });
    expect(taken.status).toBe(200);
    const until5 = Date.parse(taken.body["data"].taken_over_until);
    expect(Math.abs(until5 - Date.now() - 300_000)).toBeLessThan(60_000);

    const ping = await eventOf(world.sim.sendText(ANA, SHOP, "ping"));
    expect(ping["handled_by"]).toBeNull();
    const chat = async () =>
      (await world.gateway.get(`/chats?sender=${SHOP}&q=ana`, { key: world.key })).body.data;
    expect(await chat()).toMatchObject([
      {
        sender: SHOP,
        chat: ANA,
        name: "Ana",
        is_group: false,
        last: { direction: "in", type: "text", message: "ping" },
        unanswered: true,
        taken_over_until: taken.body["data"].taken_over_until,
      },
    ]);

    const back = await world.gateway.delete(`${path}?sender=${SHOP}`, { key: world.key });
    expect(back.body).toMatchObject({ data: { sender: SHOP, chat: ANA, taken_over_until: null } });
    await world.sim.sendText(ANA, SHOP, "ping");
    // Tests before this one have had a pong as well.
    await until(async () => (await chat())[0].bot === "ping");
    expect(await chat()).toMatchObject([
      { last: { message: "pong" }, unanswered: false, taken_over_until: null, bot: "ping" },
    ]);
    await world.bindBots(SHOP);
  });
});
