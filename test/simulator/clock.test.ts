import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { again, link, simulate } from "./_setup.ts";

const NUMBERS = ["31600000001", "31600000002"] as const;
const [NUMBER, OTHER] = NUMBERS;
const CONTACT = "31611111111";
/** The simulator's own clock stands still, so that each difference is the fault's. */
const NOW = 1_795_000_000;

async function twoLinked(sim: Simulator) {
  const contact = await sim.addContact(CONTACT);
  for (const number of NUMBERS) await sim.addNumber(number);
  return { contact, clients: [await link(sim, NUMBER), await link(sim, OTHER)] as const };
}

/** `t` of what is sent to a number's companion from now on, by tag. */
async function times(sim: Simulator, number: string, since: number): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {};
  for (const { tag, attrs } of await sim.stanzas({ number, device: 1, direction: "out", since }))
    if (attrs.t !== undefined) (found[tag] ??= []).push(Number(attrs.t) - NOW);
  return found;
}

const newest = async (sim: Simulator): Promise<number> => (await sim.stanzas()).at(-1)!.seq;

it("shifts the service's time in everything that one number's companion is sent", async () => {
  const sim = await simulate({ clock: () => NOW * 1000 });
  const { contact, clients } = await twoLinked(sim);
  const before = await newest(sim);
  await sim.faults.clockSkew({ number: NUMBER, seconds: -7200 });
  const back = await again(sim, clients[0]).untilOpen();
  await contact.sendText(NUMBER, "two hours ago");
  await contact.sendText(OTHER, "now");
  const { message } = await back.untilText("two hours ago");
  await clients[1].untilText("now");
  await back.say(contact.jid, "answer");

  expect(Number(message.messageTimestamp)).toBe(NOW - 7200);
  const shifted = await times(sim, NUMBER, before);
  expect(Object.keys(shifted)).toEqual(expect.arrayContaining(["success", "message", "ack"]));
  expect(new Set(Object.values(shifted).flat())).toEqual(new Set([-7200]));
  expect(new Set(Object.values(await times(sim, OTHER, before)).flat())).toEqual(new Set([0]));
});

it("shifts it for all numbers, and back", async () => {
  const sim = await simulate({ clock: () => NOW * 1000 });
  const { contact, clients } = await twoLinked(sim);
  await sim.faults.clockSkew({ seconds: 90 });
  const texts = async (text: string) => {
    for (const number of NUMBERS) await contact.sendText(number, text);
    const received = await Promise.all(clients.map((client) => client.untilText(text)));
    return received.map(({ message }) => Number(message.messageTimestamp) - NOW);
  };
  expect(await texts("ahead")).toEqual([90, 90]);
  await sim.faults.clockSkew({ number: OTHER, seconds: 10 });
  expect(await texts("further")).toEqual([90, 100]);
  await sim.faults.clockSkew({ seconds: 0 });
  expect(await texts("one")).toEqual([0, 10]);
  await sim.faults.clear();
  expect(await texts("none")).toEqual([0, 0]);
});
