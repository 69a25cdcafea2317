import { describe, expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const texts = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `waited ${from + index}`);

async function setup(backlogWindows: boolean) {
  const simulator = await simulate({ behaviour: { backlogWindows } });
  await simulator.addNumber(OWN);
  const guest = await simulator.addContact(GUEST);
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);
  await guest.sendText(OWN, "hello");
  await until("the first text", () => received(number).length === 1);
  await number.close();
  return { simulator, guest, number };
}

const received = (number: TestNumber): string[] => number.received.map(({ text }) => text);

describe.each([
  ["in windows that have to be asked for", true],
  ["all at once, unasked", false],
])("what waited at WhatsApp, %s", (_, windows) => {
  it("comes whole and in order, what is live after it, and only then the number is online", async () => {
    const { guest, number } = await setup(windows);
    for (const text of texts(260)) await guest.sendText(OWN, text);
    const opens = number.opens;

    await number.connect();
    await until("the first of them", () => number.received.length > 1);
    const openedBefore = number.opens > opens && number.received.length < 261;
    await guest.sendText(OWN, "live");
    await until("all of them", () => number.received.length === 262, 30_000);

    expect(openedBefore).toBe(false);
    expect(received(number)).toEqual(["hello", ...texts(260), "live"]);
    await until("online", () => number.opens === opens + 1);
    expect(Math.max(...number.waiting.map(Number))).toBeGreaterThanOrEqual(260);
    expect(number.waiting.at(-1)).toBeNull();
  });
});

it(
  "what waits in windows comes once each and in order when the connection breaks five times",
  { timeout: 120_000 },
  async () => {
    const { simulator, guest, number } = await setup(true);
    for (const text of texts(2_000)) await guest.sendText(OWN, text);

    for (let part = 1; part <= 5; part++) {
      const closes = number.closes.length;
      await number.connect();
      await until("a part", () => number.received.length > part * 300, 60_000);
      await simulator.faults.dropSocket({ number: OWN });
      await until("the end", () => number.closes.length > closes, 30_000);
    }
    await number.connect();
    await guest.sendText(OWN, "live");

    await until("all of them", () => number.received.length === 2_002, 60_000);
    expect(received(number)).toEqual(["hello", ...texts(2_000), "live"]);
  },
);
