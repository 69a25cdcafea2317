import { describe, expect, it } from "vitest";
import type { GroupChange, SimulatorOptions } from "../../src/simulator/index.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(simulator: SimulatorOptions = {}): Promise<World> {
  const world = await openWorld({ again: true, simulator });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

async function listGroups(world: World, more: object = {}): Promise<Record<string, any>> {
  return (await world.gateway.post("/groups", { sender: SHOP, ...more }, { key: world.key })).body;
}

for (const addressing of ["lid", "pn"] as const)
  describe(`a group addressed by ${addressing}`, () => {
    it("is listed with its seven fields, and is answered in the group by the webhook", async () => {
      const world = await openShop();
      const receiver = await startReceiver({ message: "Hello, group." });
      await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
      const { id } = await world.sim.addGroup({
        subject: "Neighbours",
        creator: ANA,
        members: [ANA, BEN, SHOP],
        addressing,
      });

      expect(await listGroups(world)).toMatchObject({
        status: true,
        total: 1,
        stale: false,
        data: [
          {
            id,
            name: "Neighbours",
            participants: 3,
            only_admins: false,
            is_member: true,
            is_admin: false,
            can_send: true,
          },
        ],
      });
      await world.sim.sendText(ANA, id, "anybody there?");

      for (const member of [ANA, BEN])
        expect(await world.sim.waitForMessage(member, { from: SHOP })).toMatchObject({
          text: "Hello, group.",
          chat: id,
        });
      expect(receiver.events[0]!.body).toMatchObject({
        from: ANA,
        chat: id,
        is_group: true,
        message: "anybody there?",
        pushName: "Ana",
      });
      expect(receiver.events[0]!.body.participant).toMatch(/@(lid|s\.whatsapp\.net)$/);
    });

    it("takes texts by REST, also from a member that came later", async () => {
      const world = await openShop();
      const { id } = await world.sim.addGroup({
        subject: "Team",
        creator: ANA,
        members: [ANA, SHOP],
        addressing,
      });
      const send = (message: string) =>
        world.gateway.post("/send-message", { sender: SHOP, number: id, message }, { key: world.key });

      expect((await send("first")).body).toMatchObject({
        status: true,
        state: "sent",
        results: [{ number: id }],
      });
      await world.sim.waitForMessage(ANA, { text: "first" });
      await world.sim.changeGroup(id, { add: [BEN] });
      await until(async () => (await listGroups(world)).data[0].participants === 3);
      await send("second");

      expect(await world.sim.waitForMessage(BEN, { text: "second" })).toMatchObject({ chat: id });
      await world.sim.waitForMessage(ANA, { text: "second" });
    });

    it("is refused before WhatsApp is asked when only admins may write, or when we were removed", async () => {
      const world = await openShop();
      const { id } = await world.sim.addGroup({
        subject: "News",
        creator: ANA,
        members: [ANA, SHOP],
        addressing,
        announce: true,
      });
      const send = () =>
        world.gateway.post("/send-message", { sender: SHOP, number: id, message: "x" }, { key: world.key });
      expect((await listGroups(world)).data[0]).toMatchObject({ only_admins: true, can_send: false });

      const refused = await send();
      expect(refused.status).toBe(403);
      expect(refused.body.errors).toMatchObject({ code: "CANNOT_SEND", reason: "only_admins" });

      await world.sim.changeGroup(id, { announce: false });
      await until(async () => (await send()).status === 200);
      await world.sim.changeGroup(id, { remove: [SHOP] });
      await until(async () => (await listGroups(world)).data.every((group: any) => !group.is_member));
      const gone = await send();
      expect(gone.body.errors).toMatchObject({ code: "CANNOT_SEND", reason: "not_member" });
      expect(await world.sim.countStanzas({ number: SHOP, device: 1, tag: "message", direction: "in" })).toBe(
        1,
      );
    });
  });

it("a send to what the number's last list does not have asks for it alone, and says why nothing can be sent", async () => {
  const world = await openShop();
  const send = (number: string) =>
    world.gateway.post("/send-message", { sender: SHOP, number, message: "x" }, { key: world.key });
  expect((await listGroups(world)).total).toBe(0);
  const made = { subject: "Made since", creator: ANA };
  const others = await world.sim.addGroup({ ...made, members: [ANA, BEN] });
  const closed = await world.sim.addGroup({ ...made, members: [ANA, SHOP], announce: true });
  const parent = await world.sim.addGroup({ ...made, members: [ANA, SHOP], community: { parent: true } });
  const open = await world.sim.addGroup({ ...made, members: [ANA, SHOP] });
  const channel = await world.sim.addChannel({ name: "Theirs" });
  const refused = (reason: string) => ({
    status: 403,
    body: {
      status: false,
      msg: "Failed to send message!",
      state: "failed",
      errors: { code: "CANNOT_SEND", reason, message: expect.stringMatching(/\.$/) },
    },
  });

  for (let again = 0; again < 2; again++) {
    expect(await send(others.id)).toMatchObject(refused("not_member"));
    expect(await send("120363999999999999@g.us")).toMatchObject(refused("not_member"));
    expect(await send(closed.id)).toMatchObject(refused("only_admins"));
    expect(await send(parent.id)).toMatchObject(refused("community"));
    expect(await send(channel.id)).toMatchObject(refused("not_channel_admin"));
    expect(await send("120363999999999999@newsletter")).toMatchObject(refused("not_channel_admin"));
    expect(await send(open.id)).toMatchObject({ status: 200, body: { state: "sent" } });
  }
  const nobody = await send("77000000000001@lid");
  expect(nobody).toMatchObject({ status: 422, body: { errors: { code: "NOT_ON_WHATSAPP" } } });

  const asked = (child: string) =>
    world.sim.countStanzas({ number: SHOP, device: 1, direction: "in", tag: "iq", xmlns: "w:g2", child });
  expect(await asked("participating")).toBe(1);
  expect(await asked("query")).toBeLessThanOrEqual(10);
  const written = { number: SHOP, device: 1, tag: "message", direction: "in" } as const;
  expect(await world.sim.countStanzas(written)).toBe(2);
});

const SERVICES: [string, NonNullable<SimulatorOptions["behaviour"]>][] = [
  ["today", {}],
  ["a year ago", { leaveIsRemove: false, groupVersions: false, joinersGetGroup: false }],
];

describe("the list of groups", () => {
  it("follows what happens in a group, and is asked for once", async () => {
    const world = await openShop();
    const team = { subject: "Team", creator: ANA, members: [ANA, SHOP] };
    const { id } = await world.sim.addGroup(team);
    const listed = async () => (await listGroups(world)).data.find((group: any) => group.id === id);
    expect(await listed()).toMatchObject({ name: "Team", participants: 2 });
    const steps: [GroupChange, object][] = [
      [{ subject: "A-Team" }, { name: "A-Team" }],
      [{ announce: true }, { only_admins: true, can_send: false }],
      [{ promote: [SHOP] }, { is_admin: true, can_send: true }],
      [{ demote: [SHOP] }, { is_admin: false, can_send: false }],
      [{ announce: false }, { only_admins: false, can_send: true }],
      [{ add: [BEN] }, { participants: 3 }],
      [{ leave: [BEN] }, { participants: 2 }],
      [{ description: "Us", picture: true, ephemeral: 86_400, approval: true }, { participants: 2 }],
      [{ remove: [SHOP] }, { is_member: false, can_send: false }],
      [{ subject: "Without us", join: [SHOP] }, { is_member: false }],
      [{ approve: [SHOP] }, { name: "Without us", is_member: true, can_send: true, participants: 2 }],
      [{ delete: true }, { is_member: false, can_send: false }],
    ];

    for (const [change, expected] of steps) {
      await world.sim.changeGroup(id, change);
      const holds = async () => Object.entries(expected).every(([key, value]) => group[key] === value);
      let group = await listed();
      await until(async () => ((group = await listed()), holds())).catch(() => undefined);
      expect(group, JSON.stringify(change)).toMatchObject(expected);
    }
    const asked = {
      number: SHOP,
      device: 1,
      direction: "in",
      xmlns: "w:g2",
      child: "participating",
    } as const;
    expect(await world.sim.countStanzas(asked)).toBe(1);
  });

  it.each(SERVICES)(
    "says that the owner has left on the phone, with the service of %s",
    async (_name, behaviour) => {
      const world = await openShop({ behaviour });
      const { id } = await world.sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
      const send = () =>
        world.gateway.post("/send-message", { sender: SHOP, number: id, message: "x" }, { key: world.key });
      expect((await listGroups(world)).data[0]).toMatchObject({ is_member: true });

      await world.sim.changeGroup(id, { leave: [SHOP] });

      await until(async () => (await listGroups(world)).data[0].is_member === false);
      expect((await send()).body.errors).toMatchObject({ code: "CANNOT_SEND", reason: "not_member" });
      const written = { number: SHOP, device: 1, tag: "message", direction: "in" } as const;
      expect(await world.sim.countStanzas(written)).toBe(0);
    },
  );

  it("has a community, in which nobody writes, and its groups", async () => {
    const world = await openShop();
    const { parent, announcements } = await world.sim.addCommunity({
      subject: "Village",
      members: [ANA, SHOP],
    });
    const choir = await world.sim.addGroup({ subject: "Choir", members: [ANA, SHOP] });
    await world.sim.changeGroup(parent.id, { link: [choir.id] });
    const send = async (number: string) =>
      (await world.gateway.post("/send-message", { sender: SHOP, number, message: "x" }, { key: world.key }))
        .body;
    const sends = async () => {
      const { data } = await listGroups(world);
      return new Map(data.map((group: any) => [group.id, group.can_send]));
    };

    expect(await sends()).toEqual(
      new Map([
        [parent.id, false],
        [announcements.id, false],
        [choir.id, true],
      ]),
    );
    expect((await send(parent.id)).errors).toMatchObject({ code: "CANNOT_SEND", reason: "community" });
    expect((await send(announcements.id)).errors).toMatchObject({ reason: "only_admins" });
    expect(await send(choir.id)).toMatchObject({ state: "sent" });
    await world.sim.changeGroup(announcements.id, { promote: [SHOP] });
    await world.sim.changeGroup(parent.id, { promote: [SHOP], announce: false });
    await until(async () => (await sends()).get(announcements.id) === true);
    expect(await send(announcements.id)).toMatchObject({ state: "sent" });
    expect((await send(parent.id)).errors).toMatchObject({ reason: "community" });
  });
});

it("a group that moves to LIDs takes the next message, once", async () => {
  const world = await openShop();
  const made = { subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] };
  const { id } = await world.sim.addGroup({ ...made, addressing: "pn" });
  const send = (message: string) =>
    world.gateway.post("/send-message", { sender: SHOP, number: id, message }, { key: world.key });
  await send("first");
  await world.sim.changeGroup(id, { addressing: "lid" });

  expect((await send("second")).body).toMatchObject({ status: true, state: "sent" });

  for (const member of [ANA, BEN]) {
    await world.sim.waitForMessage(member, { text: "second" });
    const got = await world.sim.messages(member, { from: SHOP, repeated: true });
    expect(got.map(({ text }) => text)).toEqual(["first", "second"]);
  }
});

describe("a contact known by LID", () => {
  it("without a number is answered, shown as its LID, and reached by its LID", async () => {
    const world = await openShop();
    const receiver = await startReceiver({ message: "Hello, whoever you are." });
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
    const hidden = await world.sim.addContact("4915100000009", { hidesNumber: true });

    await world.sim.sendText(hidden.number, SHOP, "guess who");

    expect(await world.sim.waitForMessage(hidden.number, { from: SHOP })).toMatchObject({
      text: "Hello, whoever you are.",
    });
    expect(receiver.events[0]!.body).toMatchObject({
      from: hidden.lid,
      from_lid: hidden.lid,
      chat: hidden.lid,
    });
    const unknown = await world.gateway.post(
      "/resolve-lid",
      { sender: SHOP, lid: hidden.lid },
      { key: world.key },
    );
    expect(unknown.status).toBe(200);
    expect(unknown.body).toMatchObject({
      status: false,
      lid: hidden.lid,
      number: null,
      errors: { code: "NUMBER_NOT_AVAILABLE" },
    });
    const sent = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: hidden.lid, message: "to your LID" },
      { key: world.key },
    );
    expect(sent.body).toMatchObject({ status: true, results: [{ number: hidden.lid, state: "sent" }] });
    await world.sim.waitForMessage(hidden.number, { text: "to your LID" });
  });

  it("with its number is one chat with it, and resolves, also after a restart", async () => {
    const world = await openShop();
    const receiver = await startReceiver({ message: "ok" });
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
    const eva = await world.sim.addContact("4915100000008", { addressing: "lid" });

    await world.sim.sendText(eva.number, SHOP, "hi");
    await world.sim.waitForMessage(eva.number, { text: "ok" });
    await world.gateway.restart();

    expect(receiver.events[0]!.body).toMatchObject({ from: eva.number, from_lid: eva.lid, chat: eva.number });
    for (const lid of [eva.lid, eva.lid.replace("@lid", ""), eva.lid.replace("@", ":7@")]) {
      const { body } = await world.gateway.post("/resolve-lid", { sender: SHOP, lid }, { key: world.key });
      expect(body).toMatchObject({ status: true, lid: eva.lid, number: eva.number });
    }
  });
});

describe("the owner's phone", () => {
  it("pauses bots in the chat where the owner wrote by hand, and not in others", async () => {
    const world = await openShop();
    await world.bindBots(SHOP, "ping");
    const owner = await world.sim.number(SHOP);
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.waitForMessage(ANA, { text: "pong" });

    await owner.typeAsOwner(ANA, "I am here myself.");
    await world.sim.settle();
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.sendText(BEN, SHOP, "ping");
    await world.sim.waitForMessage(BEN, { text: "pong" });
    await world.sim.settle();

    expect((await world.sim.messages(ANA, { from: SHOP })).map(({ text }) => text)).toEqual([
      "pong",
      "I am here myself.",
    ]);
  });
});

it("a group whose first message was refused can read the second", async () => {
  const world = await openShop();
  const { id } = await world.sim.addGroup({
    subject: "Team",
    creator: ANA,
    members: [ANA, BEN, SHOP],
    addressing: "lid",
  });
  const send = (message: string) =>
    world.gateway.post("/send-message", { sender: SHOP, number: id, message }, { key: world.key });
  await world.sim.faults.errorAck({ number: SHOP, to: id, code: 403 });

  expect((await send("refused")).body.errors).toMatchObject({ code: "WHATSAPP_REFUSED", whatsapp_code: 403 });
  await send("taken");

  for (const member of [ANA, BEN])
    expect(await world.sim.waitForMessage(member, { text: "taken" })).toMatchObject({ chat: id });
});

it("pairs come with the history of linking and with the members of groups, without a message", async () => {
  const world = await openWorld({ again: true });
  const known = await world.sim.addContact("4915100000006");
  const member = await world.sim.addContact("4915100000007");
  const stranger = await world.sim.addContact("4915100000005");
  await world.link(SHOP, {
    history: { pairs: [{ number: known.number, lid: known.lid.replace("@lid", "") }] },
  });
  await world.sim.addGroup({
    subject: "Team",
    creator: member.number,
    members: [member.number, SHOP],
    addressing: "lid",
  });
  const resolve = async (lid: string) =>
    (await world.gateway.post("/resolve-lid", { sender: SHOP, lid }, { key: world.key })).body;

  await until(async () => (await resolve(known.lid)).number === known.number);
  await listGroups(world, { refresh: "1" });
  await until(async () => (await resolve(member.lid)).number === member.number);
  expect(await resolve(stranger.lid)).toMatchObject({ status: false, number: null });
});
