import { describe, expect, it } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/index.ts";
import { textOf, link as linkBare } from "../simulator/_setup.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

type Behaviour = NonNullable<SimulatorOptions["behaviour"]>;

const id = (n: number): string => `3EB0AAAAAAAAAAAAAAAAA${n}`;

async function setup(behaviour: Behaviour) {
  const simulator = await simulate({ behaviour });
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);
  expect(await number.send(GUEST, "before", id(0))).toEqual({ kind: "sent" });
  const asked = () => simulator.countStanzas({ number: OWN, device: 1, direction: "in", xmlns: "usync" });
  return { simulator, guest, number, asked };
}

/** Texts that another companion of the number has got. */
const textsOf = ({ received }: Awaited<ReturnType<typeof linkBare>>): string[] =>
  received.flatMap(
    ({ message: { message } }) => textOf(message?.deviceSentMessage?.message ?? message) ?? [],
  );

const SERVICES: [string, Behaviour][] = [
  ["today", { accountSync: true, wholePhash: true }],
  ["a year ago", { accountSync: false, wholePhash: false }],
];

describe.each(SERVICES)("with the service of %s", (_, behaviour) => {
  it("a companion that is linked later gets what is sent from then on", async () => {
    const { simulator, number } = await setup(behaviour);
    const other = await linkBare(simulator, OWN);
    await until("the news", async () => (await simulator.pending(OWN, 1)) === 0);

    expect(await number.send(GUEST, "from now on", id(1))).toEqual({ kind: "sent" });

    await until("the copy", () => textsOf(other).includes("from now on"));
  });

  it("a device that Parley was not told of gets the message that has missed it, once, and the next ones", async () => {
    const { simulator, guest, number, asked } = await setup(behaviour);
    await simulator.faults.holdDeliveries({ number: OWN, device: 1 });
    const other = await linkBare(simulator, OWN);

    expect(await number.send(GUEST, "missed", id(1))).toEqual({ kind: "sent" });
    await until("the copy", () => textsOf(other).includes("missed"));
    const before = await asked();
    expect(await number.send(GUEST, "next", id(2))).toEqual({ kind: "sent" });
    await until("the next copy", () => textsOf(other).includes("next"));

    expect(textsOf(other)).toEqual(["missed", "next"]);
    expect(await asked()).toBe(before);
    await guest.waitForMessage({ text: "next" });
    expect((await guest.messages()).map(({ text }) => text)).toEqual(["before", "missed", "next"]);
    await simulator.expectViolation("device_list");
    await simulator.faults.clear();
  });
});

it("in a group a device that Parley was not told of gets our key with the next message", async () => {
  const { simulator, number } = await setup({ wholePhash: true });
  const group = await simulator.addGroup({ subject: "Team", creator: OWN, members: [OWN, GUEST] });
  expect(await number.send(group.id, "before", id(1))).toEqual({ kind: "sent" });
  await simulator.faults.holdDeliveries({ number: OWN, device: 1 });
  const other = await linkBare(simulator, OWN);

  expect(await number.send(group.id, "without a key", id(2))).toEqual({ kind: "sent" });
  await simulator.expectViolation("sender_key_missing");
  expect(await number.send(group.id, "with a key", id(3))).toEqual({ kind: "sent" });

  await until("the text", () => textsOf(other).includes("with a key"));
  await simulator.faults.clear();
});
