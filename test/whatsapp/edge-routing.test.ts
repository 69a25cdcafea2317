import { expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

it.each([
  ["today", true],
  ["a year ago", false],
] as const)("a number finds back when the server that it was led to is gone (%s)", async (_, edgeRouting) => {
  const sim = await simulate({ behaviour: { edgeRouting } });
  await sim.addNumber(OWN);
  const guest = await sim.addContact(GUEST);
  const store = await testStore(sim);
  const number = (await whatsappOn(sim, store)).number(1);
  await link(sim, number);
  const connectAgain = async () => {
    const [opens, closes] = [number.opens, number.closes.length];
    await number.connect();
    await until("an end", () => number.opens > opens || number.closes.length > closes);
    return number.opens > opens;
  };
  await number.close();
  // Led to its server, it is there at once.
  expect(await connectAgain()).toBe(true);
  await number.close();

  await sim.faults.moveEdges();
  if (edgeRouting) expect(await connectAgain()).toBe(false);
  // With nothing but what is stored, as after a restart.
  const later = (await whatsappOn(sim, store)).number(1);
  await later.connect();
  await until("the connection", () => later.opens === 1);

  expect(await later.send(GUEST, "hello", "3EB0HELLO")).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "hello" });
});
