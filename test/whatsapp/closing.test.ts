import { expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

it("a question that WhatsApp has not answered ends with the connection, and does not keep it", async () => {
  const simulator = await simulate();
  await simulator.addNumber(OWN);
  await simulator.addContact(GUEST);
  const { number: numberOf } = await whatsappOn(simulator, await testStore(simulator));
  const number = numberOf(1);
  await link(simulator, number);
  const asked = { number: OWN, xmlns: "w:g2", direction: "in" } as const;
  const before = await simulator.countStanzas(asked);
  await simulator.faults.unansweredIqs({ number: OWN, xmlns: "w:g2", times: 1000 });
  const answer = { given: false };
  const question = number
    .connection()
    .groups()
    .catch(() => null)
    .finally(() => (answer.given = true));
  await until("the question", async () => (await simulator.countStanzas(asked)) > before);

  await number.close();

  expect(answer.given).toBe(true);
  await question;
});
