import { describe, expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const MINUTE = 60_000;
const OTHERS = ["31600000101", "31600000102"];
const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;

/** A number whose contacts have been answered, with a clock that can be put forward. */
async function setup(everydayPath: boolean) {
  const simulator = await simulate();
  await simulator.addNumber(OWN);
  for (const contact of [GUEST, ...OTHERS]) await simulator.addContact(contact);
  const store = await testStore(simulator);
  let ahead = 0;
  const looks: (() => void)[] = [];
  const time = {
    ...store.time,
    monotonic: () => store.time.monotonic() + ahead,
    every(ms: number, work: () => void) {
      looks.push(work);
      return store.time.every(ms, work);
    },
  };
  const { ways, number: numberOf } = await whatsappOn(simulator, { ...store, time }, new Map(), everydayPath);
  const number = numberOf(1);
  await link(simulator, number);
  const settled = () => until("all acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
  let sends = 0;
  const writeTo = async (contacts: string[]): Promise<void> => {
    for (const contact of contacts)
      expect(await number.send(contact, "hello", waId(++sends))).toEqual({ kind: "sent" });
  };
  for (const contact of [GUEST, ...OTHERS]) await simulator.sendText(contact, OWN, "first");
  await until("the first texts", () => number.received.length === 3);
  await writeTo([GUEST, ...OTHERS]);
  for (const contact of [GUEST, ...OTHERS]) await simulator.waitForMessage(contact, { text: "hello" });
  await settled();
  const { length: closes } = number.closes;
  return {
    simulator,
    number,
    ways,
    settled,
    writeTo,
    /** So much later, everybody who looks every now and then has looked. @returns why the connection was ended */
    later(ms: number): string[] {
      ahead += ms;
      for (const look of looks) look();
      return number.closes.slice(closes).map(({ reason }) => reason);
    },
  };
}

describe.each([
  ["everyday", true],
  ["Baileys'", false],
])("the watches of a connection, %s way", (_, everydayPath) => {
  it("have nothing to wait for once a message is handled", async () => {
    const { simulator, number, ways, settled, later } = await setup(everydayPath);
    for (const text of ["one", "two"]) await simulator.sendText(GUEST, OWN, text);
    await until("the texts", () => number.received.length === 5);
    await settled();
    expect(ways.includes("in everyday")).toBe(everydayPath);
    expect(later(10 * MINUTE)).toEqual([]);
  });

  it("see silence after messages to several chats, and that a message or a receipt ends it", async () => {
    const { simulator, number, settled, writeTo, later } = await setup(everydayPath);
    const everybody = [GUEST, ...OTHERS];
    // The owner's phone gets a copy of each, and would say so.
    await simulator.faults.holdDeliveries({ number: OWN, device: 0 });
    for (const contact of everybody) await simulator.sleep(contact);
    await writeTo(everybody);
    const { length: heard } = number.receipts;
    await simulator.wake(GUEST);
    await until("its receipt", () => number.receipts.length > heard);
    await settled();
    expect(later(10 * MINUTE)).toEqual([]);

    await simulator.sleep(GUEST);
    await writeTo(everybody);
    await simulator.wake(GUEST);
    await simulator.sendText(GUEST, OWN, "there again");
    await until("the text", () => number.received.some(({ text }) => text === "there again"));
    await settled();
    expect(later(10 * MINUTE)).toEqual([]);

    await simulator.sleep(GUEST);
    await writeTo(everybody);
    later(6 * MINUTE);
    await until("the end of the connection", () => later(0).length > 0);
    expect(later(0)[0]).toContain("nothing comes back");
    await simulator.faults.clear();
  });
});
