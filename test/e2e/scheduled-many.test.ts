import { expect, it } from "vitest";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const OTHER = "31600000002";
const PEOPLE = 20;
// More than are queued in one commit: what is queued first leaves before the rest is queued.
const EACH = 12;
const PER_SECOND = 30;
const BURST = 20;

it("many that are due at once are queued together, and leave at the number's pace, in the order of each chat, while other numbers go on", async () => {
  const world = await openWorld({ env: { PACE_PER_MINUTE: String(PER_SECOND * 60) } });
  const { gateway, sim, key } = world;
  await world.link(SHOP);
  await world.link(OTHER);
  const people = await sim.addContacts(PEOPLE, { prefix: "49151" });
  const [friend] = await sim.addContacts(1, { prefix: "49152" });
  const due = new Date(Date.now() + 30_000).toISOString();
  for (let n = 0; n < EACH; n++)
    for (let from = 0; from < PEOPLE; from += 10) {
      const number = people.slice(from, from + 10).join("|");
      const asked = { sender: SHOP, number, message: `${n}`, send_at: due };
      expect((await gateway.post("/send-message", asked, { key })).status).toBe(202);
    }

  const waiting = async () => (await gateway.get("/scheduled?limit=1", { key })).body["data"].length;
  await until(async () => (await waiting()) === 0);
  const left = async () => (await sim.arrivals({ from: SHOP })).length;
  const before = await left();
  const sent = await gateway.post(
    "/send-message",
    { sender: OTHER, number: friend, message: "at once" },
    { key },
  );
  await sim.waitForMessage(friend!, { id: sent.body["id"] });
  const meanwhile = await left();
  // All of them are queued, few have left, and the other number's message did not wait for the rest.
  expect(before).toBeLessThan((PEOPLE * EACH) / 2);
  expect(meanwhile).toBeLessThan(PEOPLE * EACH);

  await until(async () => (await left()) === PEOPLE * EACH);
  for (const person of people) {
    const texts = (await sim.messages(person, { from: SHOP })).map(({ text }) => text);
    expect(texts).toEqual(Array.from({ length: EACH }, (_, n) => `${n}`));
  }
  const times = (await sim.arrivals({ from: SHOP })).map(({ at }) => at);
  const lasted = Math.max(...times) - Math.min(...times);
  expect(lasted).toBeGreaterThan(((PEOPLE * EACH - BURST) / PER_SECOND) * 1_000 * 0.9);
});
