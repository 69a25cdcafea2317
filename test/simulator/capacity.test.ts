import { expect, it } from "vitest";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { addNumbers, linkedEarlier, runCrowd } from "./_crowd.ts";
import { Client, simulate, until } from "./_setup.ts";

/** Whole clients: nearly all the time goes into their own logins and decryption. */
const WHOLE_CLIENTS = 20;

it("serves 200 logged-in companions and 2,000 contacts in one process", { timeout: 600_000 }, async () => {
  const sim = (await simulate()) as LibrarySimulator;
  // 500 with 10,000 contacts, all of whom write, are in `crowd.ts`, which takes longer than a test should.
  const { rssMb } = await runCrowd(sim, { numbers: 200, contacts: 2_000, writers: 400 });
  expect(await sim.countStanzas({ tag: "success", direction: "out" })).toBe(200);
  expect(rssMb).toBeLessThan(1000);
});

it("serves whole clients side by side", { timeout: 300_000 }, async () => {
  const sim = (await simulate()) as LibrarySimulator;
  const numbers = await addNumbers(sim, WHOLE_CLIENTS, "316000");
  const contacts = await sim.addContacts(WHOLE_CLIENTS * 3, { prefix: "31700" });
  const clients: Client[] = [];
  for (const number of numbers) {
    const client = new Client(sim, {}, await linkedEarlier(sim, number));
    await client.untilOpen();
    clients.push(client);
  }
  for (const [index, contact] of contacts.entries())
    await sim.sendText(contact, numbers[index % WHOLE_CLIENTS]!, `text ${index}`);
  await until("all texts", () => clients.every(({ texts }) => texts.length === 3), 150_000);
  for (const [index, { texts }] of clients.entries())
    expect(texts).toEqual([0, 1, 2].map((round) => `text ${index + round * WHOLE_CLIENTS}`));
});
