import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
/** A number that nobody is ever told. */
const STRANGER = "4915100000100";

async function openShop() {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  const receiver = await startReceiver({ message: "Hello." });
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
  const list = async (path: string): Promise<any[]> =>
    (await world.gateway.get(`${path}?sender=${SHOP}`, { key: world.key })).body.data;
  const eventWith = async (message: string) => {
    const found = () => receiver.events.find(({ body }) => body.message === message);
    await until(() => found() !== undefined);
    return found()!.body;
  };
  return { world, list, eventWith };
}

describe.each([
  ["with a username", { username: "ana.berlin", name: "Ana" }, {}],
  ["that is hidden", { hidesNumber: true, name: "Ana" }, {}],
  [
    "from an advertisement",
    { hidesNumber: true, name: "Ana" },
    {
      advertisement: {
        title: "Summer sale",
        body: "Write to us",
        sourceId: "120200000000000000",
        sourceUrl: "https://fb.me/abc",
        ctwaClid: "ARabc",
      },
    },
  ],
])("a writer without a number, %s", (how, contact, options) => {
  it("is told to the webhook, answered, listed with its chat, and written to", async () => {
    const { world, list, eventWith } = await openShop();
    const ana = await world.sim.addContact(STRANGER, contact);
    const text = `I have no number: ${how}`;

    await ana.sendText(SHOP, text, options);

    expect(await eventWith(text)).toMatchObject({
      text,
      from: ana.lid,
      from_lid: ana.lid,
      chat: ana.lid,
      pushName: "Ana",
      type: "text",
      is_group: false,
    });
    await ana.waitForMessage({ from: SHOP, text: "Hello." });
    await until(async () => (await list("/messages")).filter(({ chat }) => chat === ana.lid).length === 2);
    expect((await list("/messages")).filter(({ chat }) => chat === ana.lid)).toMatchObject([
      { direction: "out", message: "Hello." },
      { direction: "in", from: ana.lid, message: text, type: "text" },
    ]);
    expect((await list("/chats")).find(({ chat }) => chat === ana.lid)).toMatchObject({
      name: "Ana",
      is_group: false,
      last: { direction: "out", message: "Hello." },
    });
    const sent = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ana.lid, message: "More." },
      { key: world.key },
    );
    expect(sent.body).toMatchObject({ status: true, state: "sent", results: [{ number: ana.lid }] });
    await ana.waitForMessage({ from: SHOP, text: "More." });
  });
});

it("a contact is one chat under its number, whatever addresses it had", async () => {
  const { world, list, eventWith } = await openShop();
  const number = STRANGER;
  const ben = await world.sim.addContact(number, { name: "Ben" });
  await ben.sendText(SHOP, "before");
  await ben.waitForMessage({ from: SHOP, text: "Hello." });
  const before = ben.lid;
  await world.sim.changeLid(number, { told: "ack" });

  await ben.sendText(SHOP, "after");
  await eventWith("after");
  await until(async () => (await ben.messages({ from: SHOP })).length === 2);

  // Whoever has a session with the old LID asks for the message again: the owner's phone at least.
  await world.sim.expectViolation("undecryptable");
  const chats = (await list("/chats")).filter(({ chat }) => [number, before].includes(chat));
  expect(chats).toMatchObject([{ chat: number, last: { direction: "out", message: "Hello." } }]);
  const messages = (await list("/messages")).filter(({ chat }) => chat === number);
  expect(messages.map(({ message }) => message).toReversed()).toEqual([
    "before",
    "Hello.",
    "after",
    "Hello.",
  ]);
});
