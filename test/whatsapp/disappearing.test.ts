import { describe, expect, it } from "vitest";
import type { ContactHandle, Simulator } from "../../src/simulator/index.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const DAY = 24 * 3600;
const WEEK = 7 * DAY;

async function setup(contact: Parameters<Simulator["addContact"]>[1] = { name: "Ana" }) {
  const simulator = await simulate();
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, contact);
  const store = await testStore(simulator);
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  return { simulator, guest, store, number };
}

let sends = 0;

/** What the expiry of a message is that is sent now, as it arrives. */
async function expiryOf(number: TestNumber, guest: ContactHandle, to = GUEST) {
  const id = `3EB0${String(++sends).padStart(18, "0")}`;
  expect(await number.send(to, `message ${sends}`, id)).toEqual({ kind: "sent" });
  const { expiration, expirationSince } = await guest.waitForMessage({ id });
  return { expiration, expirationSince };
}

const settled = (simulator: Simulator) =>
  until("everything to be acknowledged", async () => (await simulator.pending(OWN)) === 0);
const aboutNow = (seconds: number | undefined): boolean => Math.abs(seconds! - Date.now() / 1000) < 60;
const STAYS = { expiration: undefined, expirationSince: undefined };

describe("what is sent to a chat whose messages disappear", () => {
  it("says so from when the contact has set it, until the contact or the owner ends it", async () => {
    const { simulator, guest, number } = await setup();
    expect(await expiryOf(number, guest)).toEqual(STAYS);
    await simulator.setDisappearing(GUEST, OWN, DAY);
    await settled(simulator);
    const set = await expiryOf(number, guest);
    expect(set.expiration).toBe(DAY);
    expect(aboutNow(set.expirationSince)).toBe(true);

    await simulator.setDisappearing(OWN, GUEST, WEEK);
    await settled(simulator);
    expect(await expiryOf(number, guest)).toMatchObject({ expiration: WEEK });
    await simulator.setDisappearing(OWN, GUEST, 0);
    await settled(simulator);
    expect(await expiryOf(number, guest)).toEqual(STAYS);
    // A change of the setting is nothing that anybody has said.
    expect(number.received).toEqual([]);
  });

  it.each([GUEST, "by LID"])("says so when the history of linking has told of it (%s)", async (by) => {
    const simulator = await simulate();
    const guest = await simulator.addContact(GUEST, { name: "Ana" });
    const since = Math.floor(Date.now() / 1000) - 3 * DAY;
    const disappearing = { seconds: WEEK, since };
    const chat = { with: by === GUEST ? GUEST : guest.lid, disappearing, messages: [{ text: "before" }] };
    await simulator.addNumber(OWN, { name: "Shop", history: { chats: [chat] } });
    const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
    await link(simulator, number);
    await until("the history", async () => (await expiryOf(number, guest)).expiration === WEEK);

    expect(await expiryOf(number, guest)).toEqual({ expiration: WEEK, expirationSince: since });
    expect(await expiryOf(number, guest, guest.lid)).toEqual({ expiration: WEEK, expirationSince: since });
    await simulator.setDisappearing(GUEST, OWN, 0);
    await settled(simulator);
    expect(await expiryOf(number, guest)).toEqual(STAYS);
  });

  it("says so once a message has told of it, over a restart", async () => {
    const { simulator, guest, store, number } = await setup();
    await guest.sendText(OWN, "psst", { expiration: WEEK });
    await until("the text", () => number.received.some(({ text }) => text === "psst"));
    await settled(simulator);
    await number.close();

    const again = (await whatsappOn(simulator, store)).number(1);
    await again.connect();
    await until("the connection", () => again.opens > 0);
    expect(await expiryOf(again, guest)).toMatchObject({ expiration: WEEK });
    expect(await expiryOf(again, guest)).toMatchObject({ expiration: WEEK });
  });

  it("says so to a number whose LID has set it, and to the LID", async () => {
    const { simulator, guest, number } = await setup({ addressing: "lid" });
    await simulator.setDisappearing(GUEST, OWN, DAY);
    await settled(simulator);
    expect(await expiryOf(number, guest)).toMatchObject({ expiration: DAY });
    expect(await expiryOf(number, guest, guest.lid)).toMatchObject({ expiration: DAY });
  });

  it("says so in a group, which names it itself", async () => {
    const { simulator, guest, number } = await setup();
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN], ephemeral: WEEK });
    expect(await expiryOf(number, guest, group.id)).toEqual({ expiration: WEEK, expirationSince: undefined });
    expect(await expiryOf(number, guest)).toEqual(STAYS);
  });
});
