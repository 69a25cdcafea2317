import { expect, it } from "vitest";
import { child, element, IqError, type LibrarySimulator } from "../../src/simulator/inside.ts";
import type { ContactHandle } from "../../src/simulator/types.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

async function setup() {
  const simulator = await simulate();
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  return { simulator, server: (simulator as LibrarySimulator).server, guest, number };
}

/** Whoever writes to it is heard. */
async function isHeard(guest: ContactHandle, number: TestNumber): Promise<boolean> {
  const { id } = await guest.sendText(OWN, "hello");
  return until("the text", () => number.received.some((message) => message.id === id));
}

it("a number that WhatsApp did not tell how many pre-keys it has can be written to all the same", async () => {
  const { simulator, server, guest, number } = await setup();
  server.hooks.iq.push((_, iq) =>
    iq.attrs.type === "get" && child(iq, "count") ? new IqError(503, "service-unavailable") : undefined,
  );

  await link(simulator, number);
  await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);

  expect(await isHeard(guest, number)).toBe(true);
});

it("an answer without a number of pre-keys counts as none", async () => {
  const { simulator, server, guest, number } = await setup();
  server.hooks.outgoing.push((_, node) =>
    node.tag === "iq" && child(node, "count") ? element("iq", node.attrs) : undefined,
  );

  await link(simulator, number);
  await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);

  expect(await isHeard(guest, number)).toBe(true);
});

it("pre-keys are uploaded once when WhatsApp has none", async () => {
  const { simulator, guest, number } = await setup();

  await link(simulator, number);
  expect(await isHeard(guest, number)).toBe(true);

  const uploads = { number: OWN, device: 1, direction: "in", xmlns: "encrypt", type: "set" } as const;
  expect(await simulator.countStanzas(uploads)).toBe(1);
});
