import { expect, it } from "vitest";
import { listenTo, type Told } from "../_setup/event-listener.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

interface Shop {
  world: World;
  receiver: Receiver;
  listener: Awaited<ReturnType<typeof listenTo>>;
}

async function openShop(events: string[]): Promise<Shop> {
  const world = await openWorld({ again: true });
  const receiver = await startReceiver({ message: "never sent" });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, events }, world);
  return { world, receiver, listener: await listenTo(world.gateway.url, world.key) };
}

const posted = ({ receiver }: Shop) => receiver.events.map(({ body }) => body as Record<string, any>);
const told = ({ listener }: Shop, name: string): Told["data"][] =>
  listener.told.filter(({ event }) => event === name).map(({ data }) => data);
const known = async ({ world }: Shop, contact: string): Promise<boolean> =>
  (await world.gateway.get(`/contacts/${contact}?sender=${SHOP}`, world)).status === 200;

it("what is done to groups is told, and posted to a webhook that asks for it", async () => {
  const shop = await openShop(["group"]);
  const { sim } = shop.world;
  const { id } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, SHOP] });
  await until(() => posted(shop).length === 1);
  await sim.changeGroup(id, { subject: "Our team" });
  await sim.changeGroup(id, { add: [BEN] });
  await sim.changeGroup(id, { promote: [BEN] });
  await sim.changeGroup(id, { announce: true });
  await sim.changeGroup(id, { demote: [BEN] });
  await sim.changeGroup(id, { leave: [BEN] });
  await sim.changeGroup(id, { description: "Who works here" });
  await sim.changeGroup(id, { remove: [SHOP] });
  await until(() => posted(shop).length === 9);

  const says = (action: string, participants: string[], text = "", by = ANA) => ({
    type: "group",
    chat: id,
    is_group: true,
    device: SHOP,
    from: by,
    text,
    message: text,
    group: { action, by, participants },
  });
  expect(posted(shop)).toMatchObject([
    says("created", expect.arrayContaining([ANA, SHOP]) as never, "Team"),
    says("subject", [], "Our team"),
    says("add", [BEN]),
    says("promote", [BEN]),
    says("settings", []),
    says("demote", [BEN]),
    says("leave", [BEN], "", BEN),
    says("description", [], "Who works here"),
    says("remove", [SHOP]),
  ]);
  await until(() => told(shop, "group").length === 9);
  expect(told(shop, "group")[2]).toEqual({
    device: SHOP,
    chat: id,
    from: ANA,
    at: expect.stringMatching(/Z$/),
    action: "add",
    by: ANA,
    participants: [BEN],
    text: "",
  });
  expect(await sim.messages(ANA, { from: SHOP })).toEqual([]);
});

it("a contact's new name, LID and number are told with what was before", async () => {
  const shop = await openShop(["contact"]);
  const { sim } = shop.world;
  const before = await sim.contact(ANA);
  await sim.sendText(ANA, SHOP, "Hello");
  await until(() => known(shop, ANA));
  // WhatsApp tells of those whom the number has written to.
  await shop.world.gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Hi" }, shop.world);
  await sim.setPushName(ANA, "Anna");
  await sim.sendText(ANA, SHOP, "I have another name");
  await until(() => posted(shop).length === 1);
  expect(posted(shop)[0]).toMatchObject({
    type: "contact",
    chat: ANA,
    from: ANA,
    device: SHOP,
    text: "",
    contact: { changed: ["name"], old: { name: "Ana" } },
  });

  const lid = await sim.changeLid(ANA, { told: "contacts" });
  await until(() => posted(shop).length === 2);
  expect(posted(shop)[1]!["contact"]).toEqual({ changed: ["lid"], old: { lid: before.lid } });

  await sim.changeNumber(ANA, "4915100000077");
  await until(() => posted(shop).length === 3);
  expect(posted(shop)[2]).toMatchObject({
    chat: "4915100000077",
    contact: { changed: ["lid", "number"], old: { lid, number: ANA } },
  });
  await until(() => told(shop, "contact").length === 3);
  expect(told(shop, "contact")[0]).toEqual({
    device: SHOP,
    chat: ANA,
    from: ANA,
    at: expect.stringMatching(/Z$/),
    changed: ["name"],
    old: { name: "Ana" },
  });
});

it("how somebody is, is told for as long as the chat is watched", async () => {
  const shop = await openShop(["presence"]);
  const { sim, gateway } = shop.world;
  const watch = (chat: string, fields: object = {}) =>
    gateway.post(`/chats/${chat}/presence`, { sender: SHOP, ...fields }, shop.world);
  await sim.sendText(ANA, SHOP, "Hello");
  await until(() => known(shop, ANA));
  await sim.typing(ANA, SHOP, "composing");
  expect(await watch(ANA, { seconds: 60 })).toMatchObject({
    status: 200,
    body: { data: { sender: SHOP, chat: ANA, until: expect.stringMatching(/Z$/) } },
  });
  await until(async () => (await sim.presence(SHOP)).available.includes(1));
  const states = () => told(shop, "presence").map(({ state }) => state);
  await until(() => states().includes("online"));
  await sim.typing(ANA, SHOP, "composing");
  await sim.typing(ANA, SHOP, "recording");
  await sim.typing(ANA, SHOP, "paused");
  await sim.setPresence(ANA, "unavailable");
  await until(() => states().includes("offline"));
  expect(states().slice(-5)).toEqual(["online", "typing", "recording", "paused", "offline"]);
  await until(() => posted(shop).some(({ presence }) => presence.state === "offline"));
  expect(posted(shop).at(-1)).toMatchObject({
    type: "presence",
    chat: ANA,
    from: ANA,
    is_group: false,
    presence: { state: "offline", last_seen: expect.stringMatching(/Z$/) },
  });

  // Nobody else is told of.
  const count = states().length;
  await sim.sendText(BEN, SHOP, "Hello");
  await until(() => known(shop, BEN));
  await sim.typing(BEN, SHOP, "composing");
  // It ends by itself, and then the phone has its notifications again.
  expect((await watch(ANA, { seconds: 1 })).status).toBe(200);
  await until(async () => (await sim.presence(SHOP)).available.includes(1) === false);
  await sim.setPresence(ANA, "available");
  await sim.sendText(ANA, SHOP, "Bye");
  await until(() => told(shop, "message.in").length === 3);
  expect(
    told(shop, "presence")
      .slice(count)
      .every(({ chat }) => chat === ANA),
  ).toBe(true);

  for (const fields of [{ seconds: 601 }, { seconds: 0 }, { seconds: "long" }])
    expect((await watch(ANA, fields)).status).toBe(400);
  for (const chat of ["4915100000099", "nobody", "120363000000000001@newsletter"])
    expect((await watch(chat)).status).toBe(404);
});

it("a key hears of groups with `groups` alone, and of the others with `messages`", async () => {
  const shop = await openShop([]);
  const { sim, gateway, key } = shop.world;
  const listener = async (permissions: string[], recipients?: string[]) => {
    const { body } = await gateway.post("/api-keys", { name: "ears", permissions, recipients }, { key });
    return listenTo(gateway.url, body["api_key"] as string);
  };
  const [groups, messages, ofBen] = [
    await listener(["groups"]),
    await listener(["messages"]),
    await listener(["messages", "groups"], [BEN]),
  ];
  await sim.sendText(ANA, SHOP, "Hello");
  await until(() => known(shop, ANA));
  await sim.setPushName(ANA, "Anna");
  await sim.sendText(ANA, SHOP, "Another name");
  await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, SHOP] });
  const heard = ({ told: all }: { told: Told[] }) => all.map(({ event }) => event);
  await until(() => heard(groups).includes("group") && heard(messages).includes("contact"));
  await until(() => told(shop, "group").length === 1 && told(shop, "contact").length === 1);
  expect(heard(groups)).not.toContain("contact");
  expect(heard(messages)).not.toContain("group");
  expect(heard(ofBen).filter((name) => name === "group" || name === "contact")).toEqual([]);
});
