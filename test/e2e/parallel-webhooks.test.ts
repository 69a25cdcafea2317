import { expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld } from "../_setup/world.ts";

const SHOP = "31600000001";
const CHATS = 20;

it("many chats ask a slow webhook at once: none waits for another, and nothing is warned of", async () => {
  const world = await openWorld();
  await world.link(SHOP);
  const people = await world.sim.addContacts(CHATS, { prefix: "49151" });
  let answerAll = (): void => undefined;
  const allHaveAsked = new Promise<void>((resolve) => (answerAll = resolve));
  const receiver = await startReceiver(async () => {
    if (receiver.events.length === CHATS) answerAll();
    // Nobody is answered before everybody has asked.
    await allHaveAsked;
    return { message: "Here we are." };
  });
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });

  await Promise.all(people.map((person) => world.sim.sendText(person, SHOP, "hello")));
  for (const person of people) await world.sim.waitForMessage(person, { text: "Here we are." }, 30_000);

  expect(world.gateway.output()).not.toMatch(/warning/i);
});
