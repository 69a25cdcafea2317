import { expect, it } from "vitest";
import { connectSimulator } from "../../src/simulator/client.ts";
import { again, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };

it("gives the next messages a time that is none, also when they are delivered again", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await sim.faults.badMessageTimes({ ...TARGET, n: 1 });
  await sim.faults.dropBeforeReceipt(TARGET);

  const { id } = await contact.sendText(NUMBER, "when?");
  await client.untilClosed(2);
  const back = await again(sim, client).untilOpen();
  await contact.sendText(NUMBER, "now");
  const { message } = await back.untilText("now");

  expect(Number(message.messageTimestamp)).toBeGreaterThan(1_700_000_000);
  const stanzas = await sim.stanzas({ ...TARGET, device: 1, direction: "out", tag: "message", id });
  expect(stanzas.slice(0, 2).map(({ attrs }) => attrs.t)).toEqual(["not-a-time", "not-a-time"]);
});

it("gives the next receipts any time that is asked for, or none, over HTTP as well", async () => {
  const sim = await simulate({ controlPort: 0 });
  const remote = connectSimulator(sim.controlUrl);
  await remote.addNumber(NUMBER);
  const contact = await remote.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await remote.faults.badReceiptTimes({ ...TARGET, n: 1, t: "NaN" });
  await remote.faults.badReceiptTimes({ ...TARGET, n: 1, t: null });

  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) ids.push((await client.say(contact.jid, text)).id);
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);

  const times = await Promise.all(
    ids.map(async (id) => {
      const found = await sim.stanzas({ ...TARGET, device: 1, direction: "out", tag: "receipt", id });
      return found.find(({ attrs }) => attrs.type !== "sender")!.attrs.t;
    }),
  );
  expect(times.slice(0, 2)).toEqual(["NaN", undefined]);
  expect(Number(times[2])).toBeGreaterThan(1_700_000_000);
  await expect(remote.faults.badReceiptTimes({ ...TARGET, n: 0 })).rejects.toThrow("n must be");
});
