import { describe, expect, it } from "vitest";
import { link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

describe("a channel's post", () => {
  it("that says the same as an earlier one is not lost when it was acknowledged and could not be stored", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN, { name: "Shop" });
    const { id: channel } = await simulator.addChannel({ name: "News", followers: [OWN] });
    const gateway = await whatsappOn(simulator, await testStore(simulator));
    const number = gateway.number(1);
    await link(simulator, number);
    const first = await simulator.postInChannel(channel, "Good morning.");
    await until("the first post", () => number.received.length === 1);
    await number.close();

    let giveUp!: () => void;
    let closed = false;
    const held = new Promise<void>((_, reject) => (giveUp = () => reject(new Error("the inbox is away"))));
    held.catch(() => undefined);
    const connection = await gateway.whatsapp.connect(1, {
      qr: () => undefined,
      linked: () => undefined,
      open: () => undefined,
      closed: () => void (closed = true),
      messages: () => held,
      receipts: () => undefined,
      groupsChanged: () => undefined,
    });
    await simulator.waitOnline(OWN);
    const second = await simulator.postInChannel(channel, "Good morning.");
    await until("the acknowledgement", async () => (await simulator.pending(OWN)) === 0);
    giveUp();
    await until("the end of the connection", () => closed);
    await connection.close();
    await number.connect();

    await until("the second post", () => number.received.length === 2);
    expect(number.received.map(({ id, text }) => ({ id, text }))).toEqual([
      { id: first.id, text: "Good morning." },
      { id: second.id, text: "Good morning." },
    ]);
    expect(number.received[1]).toMatchObject({
      type: "channel",
      chatKind: "channel",
      chat: channel,
      chatKey: channel,
      sender: channel,
      number: null,
      fromMe: false,
    });
  });
});
