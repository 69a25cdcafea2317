import { expect, it } from "vitest";
import { sweepTokens } from "../../src/whatsapp/signal/token-rows.ts";
import { rawRows } from "../unit/store/rows.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const DAY = 86_400;
const REFUSED = { kind: "refused", code: 463 };
const id = (n: number): string => `3EB0AAAAAAAAAAAAAAAAA${n}`;

/** A number, and a contact that nobody may write to without its token. */
async function setup(privacyTokens = true) {
  const simulator = await simulate({ behaviour: { privacyTokens } });
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana", demandsToken: true });
  const store = await testStore(simulator);
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  const settled = () => until("what was told", async () => (await simulator.pending(OWN, 1)) === 0);
  return { simulator, guest, store, gateway, number, settled };
}

it("a token that a contact gives by writing is sent with every message to it, also after a restart", async () => {
  const { simulator, guest, store, number, settled } = await setup();
  expect(await number.send(GUEST, "uninvited", id(0))).toMatchObject(REFUSED);

  await guest.sendText(OWN, "hello");
  await until("the text", () => number.received.some(({ text }) => text === "hello"));
  await settled();
  expect(await number.send(GUEST, "welcome", id(1))).toEqual({ kind: "sent" });
  expect(await number.send(guest.lid, "and by its LID", id(2))).toEqual({ kind: "sent" });
  await number.close();
  const again = (await whatsappOn(simulator, store)).number(1);
  await again.connect();
  await until("the connection to open", () => again.opens > 0);
  expect(await again.send(GUEST, "still welcome", id(3))).toEqual({ kind: "sent" });

  for (const text of ["welcome", "and by its LID", "still welcome"]) await guest.waitForMessage({ text });
});

it("a token that does not hold any more is not sent, and a new one takes its place", async () => {
  const { simulator, guest, number, settled } = await setup(false);
  await simulator.giveToken(GUEST, OWN, { secondsAgo: 36 * DAY });
  await settled();
  expect(await number.send(GUEST, "too late", id(1))).toMatchObject(REFUSED);

  await simulator.giveToken(GUEST, OWN, { secondsAgo: 20 * DAY });
  await settled();
  expect(await number.send(GUEST, "in time", id(2))).toEqual({ kind: "sent" });
  await simulator.giveToken(GUEST, OWN);
  await settled();
  expect(await number.send(GUEST, "with the newest", id(3))).toEqual({ kind: "sent" });

  const texts = (await guest.messages()).map(({ text }) => text);
  expect(texts).toEqual(["in time", "with the newest"]);
});

it("the gateway gives its own token to whom it writes to, once", async () => {
  const { simulator, number } = await setup();
  const ben = await simulator.addContact("31600000101", { name: "Ben" });
  const given = () =>
    simulator.countStanzas({
      number: OWN,
      device: 1,
      direction: "in",
      tag: "iq",
      xmlns: "privacy",
      child: "tokens",
    });
  const before = await given();

  expect(await number.send(ben.number, "one", id(1))).toEqual({ kind: "sent" });
  await until("the token", async () => (await given()) > before);
  expect(await number.send(ben.number, "two", id(2))).toEqual({ kind: "sent" });
  await ben.waitForMessage({ text: "two" });

  expect((await given()) - before).toBe(1);
  const told = await simulator.stanzas({ contact: ben.number, tag: "notification", type: "privacy_token" });
  expect(told.length).toBeGreaterThan(0);
});

it("a token goes along when its giver gets another LID", async () => {
  const { simulator, guest, number, settled } = await setup();
  await guest.sendText(OWN, "hello");
  await until("the text", () => number.received.some(({ text }) => text === "hello"));
  await settled();
  expect(await number.send(GUEST, "welcome", id(1))).toEqual({ kind: "sent" });

  await simulator.changeLid(GUEST, { told: "contacts" });
  await settled();

  expect(await number.send(GUEST, "to the new LID", id(2))).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "to the new LID" });
});

it("a token that was given before the number was linked comes with the history", async () => {
  const simulator = await simulate({ behaviour: { privacyTokens: false } });
  await simulator.addContact(GUEST, { name: "Ana", demandsToken: true });
  const chats = [{ with: GUEST, messages: [{ text: "before" }] }];
  await simulator.addNumber(OWN, { name: "Shop", history: { chats } });
  await simulator.giveToken(GUEST, OWN);
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);

  let n = 0;
  await until("the token", async () => (await number.send(GUEST, "hello", id(n++))).kind === "sent");

  const guest = await simulator.contact(GUEST);
  expect(await guest.waitForMessage({ text: "hello" })).toMatchObject({ text: "hello" });
});

it("a token is stored by itself, however many contacts have given one, and goes when it holds no more", async () => {
  const { simulator, guest, store, number, settled } = await setup();
  const tokens = () =>
    rawRows(store, "select id, length(value) as size from wa_keys where type = 'tctoken'", []);
  for (let n = 0; n < 3; n++) {
    const other = await simulator.addContact(`3161111110${n}`, { name: `C${n}` });
    await other.sendText(OWN, "hello");
    expect(await number.send(other.number, "welcome", id(n))).toEqual({ kind: "sent" });
  }
  await guest.sendText(OWN, "hello");
  await settled();
  await until("all tokens", async () => (await tokens()).length >= 4);
  await number.close();

  const rows = await tokens();
  expect(rows.map((row) => row["id"])).not.toContain("__index");
  for (const { size } of rows) expect(Number(size)).toBeLessThan(400);

  await sweepTokens(store);
  expect(await tokens()).toHaveLength(rows.length);
  await store.writer.commit([
    {
      sql: "update wa_keys set updated_at = updated_at - ? where type = 'tctoken'",
      args: [36 * DAY * 1_000],
    },
  ]);
  await sweepTokens(store);
  expect(await tokens()).toEqual([]);
});
