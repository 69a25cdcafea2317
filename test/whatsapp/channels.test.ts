import { describe, expect, it } from "vitest";
import { link, OWN, simulate, testStore, until, whatsappOn, withoutInbox } from "./_setup.ts";

describe("a channel's post", () => {
  it("that says the same as an earlier one is not lost when it could not be stored at first", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN, { name: "Shop" });
    const { id: channel } = await simulator.addChannel({ name: "News", followers: [OWN] });
    const store = withoutInbox(await testStore(simulator));
    const gateway = await whatsappOn(simulator, store);
    const number = gateway.number(1);
    await link(simulator, number);
    const first = await simulator.postInChannel(channel, "Good morning.");
    await until("the first post", () => number.received.length === 1);
    await number.close();

    store.away = true;
    await number.connect();
    await simulator.waitOnline(OWN);
    const second = await simulator.postInChannel(channel, "Good morning.");
    await until("the end of the connection", () => number.closes.some(({ code }) => code === 503));
    expect(await simulator.pending(OWN, 1)).toBeGreaterThan(0);
    await number.close();
    store.away = false;
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
