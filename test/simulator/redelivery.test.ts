import { expect, it } from "vitest";
import { again, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

it("keeps what comes while a companion is away and redelivers it in order as offline", async () => {
  const sim = await simulate({ behaviour: { privacyTokens: false } });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  const texts = Array.from({ length: 30 }, (_, index) => `missed ${index}`);
  for (const text of texts) await contact.sendText(NUMBER, text);
  expect(await sim.pending(NUMBER)).toBe(30);
  const back = again(sim, client);
  await back.untilText("missed 29");
  expect(back.texts).toEqual(texts);
  expect(back.received.every(({ type }) => type === "append")).toBe(true);
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);
  const offline = (await sim.stanzas({ number: NUMBER, direction: "out", tag: "message" })).map(
    ({ attrs }) => attrs.offline,
  );
  expect(offline.slice(-30)).toEqual(texts.map((_, index) => String(index)));
});

it("announces the end of the offline stanzas after the last of them", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  await contact.sendText(NUMBER, "one");
  await contact.sendText(NUMBER, "two");
  const back = again(sim, client);
  await back.untilOpen();
  const log = await sim.stanzas({ number: NUMBER, device: 1, direction: "out" });
  const login = log.findLastIndex(({ tag }) => tag === "success");
  const order = log
    .slice(login)
    .filter(({ tag, children }) => tag === "message" || children.some((child) => child.startsWith("offline")))
    .map(({ tag, children }) => (tag === "ib" ? children[0] : tag));
  expect(order).toEqual(["offline_preview", "message", "message", "offline"]);
});

it("redelivers what was sent but not acknowledged, before what came later", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hi");
  await client.untilText("hi");
  await until("receipt", async () => (await sim.pending(NUMBER)) === 0);
  await sim.faults.dropBeforeReceipt({ number: NUMBER });
  await contact.sendText(NUMBER, "unacknowledged");
  await client.untilClosed(2);
  await contact.sendText(NUMBER, "later");
  expect(await sim.pending(NUMBER)).toBe(2);
  const back = again(sim, client);
  await back.untilText("later");
  const redelivered = (await sim.stanzas({ number: NUMBER, direction: "out", tag: "message" })).slice(-2);
  expect(redelivered.map(({ attrs }) => attrs.offline)).toEqual(["0", "1"]);
  await until("acknowledged", async () => (await sim.pending(NUMBER)) === 0);
});

it("lets a companion reconnect as often as it likes", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  let client = await link(sim, NUMBER);
  for (let round = 0; round < 4; round += 1) {
    await client.end();
    client = await again(sim, client).untilOpen();
    await contact.sendText(NUMBER, `round ${round}`);
    expect((await client.untilText(`round ${round}`)).type).toBe("notify");
  }
});
