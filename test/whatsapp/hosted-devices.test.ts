import { describe, expect, it } from "vitest";
import type { ContactOptions } from "../../src/simulator/index.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const HOSTED = 99;

/** A business with a phone, a hosted device, and a computer that was linked after it. */
async function setup(lidChats: boolean, reachableBy: ContactOptions["reachableBy"]) {
  const sim = await simulate({ behaviour: { lidChats } });
  await sim.addNumber(OWN);
  const shop = await sim.addContact(GUEST, {
    hosted: true,
    devices: 2,
    reachableBy,
  });
  const store = await testStore(sim);
  const number = (await whatsappOn(sim, store)).number(1);
  await link(sim, number);
  return { sim, shop, number };
}

describe.each([
  ["LIDs", true, "both"],
  ["numbers beside LIDs", false, "both"],
  ["numbers alone", false, "number"],
] as const)("the hosted device of a business, addressed by %s,", (_, lidChats, reachableBy) => {
  it("gets what is written to it, as the others do, and is read", async () => {
    const { sim, shop, number } = await setup(lidChats, reachableBy);

    expect(await number.send(GUEST, "hello", "3EB0HELLO")).toEqual({ kind: "sent" });
    await shop.waitForMessage({ text: "hello" });
    const filter = { contact: GUEST, direction: "out", tag: "message", id: "3EB0HELLO" } as const;
    const got = (await sim.stanzas(filter)).map(({ device }) => device);
    expect(got.toSorted((a, b) => a - b)).toEqual([0, 1, HOSTED]);

    await shop.sendText(OWN, "by the API", { device: HOSTED });
    const { sender, chatKey } = await until("the text", () =>
      number.received.find(({ text }) => text === "by the API"),
    );
    expect([sender, chatKey]).toEqual([`${GUEST}@s.whatsapp.net`, `${GUEST}@s.whatsapp.net`]);
    expect(await number.send(GUEST, "and back", "3EB0BACK")).toEqual({ kind: "sent" });
    await shop.waitForMessage({ text: "and back" });
    await shop.sendText(OWN, "once more", { device: HOSTED });
    await until("the next text", () => number.received.some(({ text }) => text === "once more"));
  });

  it("is read when it writes first", async () => {
    const { shop, number } = await setup(lidChats, reachableBy);

    await shop.sendText(OWN, "by the API", { device: HOSTED });

    const { sender } = await until("the text", () =>
      number.received.find(({ text }) => text === "by the API"),
    );
    expect(sender).toBe(`${GUEST}@s.whatsapp.net`);
    expect(await number.send(GUEST, "and back", "3EB0BACK")).toEqual({ kind: "sent" });
    await shop.waitForMessage({ text: "and back" });
  });

  it("is given nothing of a group, whose hash does not name it", async () => {
    const { sim, shop, number } = await setup(lidChats, reachableBy);
    const addressing = lidChats ? "lid" : "pn";
    const { id } = await sim.addGroup({ subject: "Team", members: [GUEST, OWN], addressing });
    const asked = () => sim.countStanzas({ number: OWN, device: 1, direction: "in", xmlns: "usync" });

    expect(await number.send(id, "first", "3EB0FIRST")).toEqual({ kind: "sent" });
    await shop.waitForMessage({ text: "first" });
    const before = await asked();
    expect(await number.send(id, "second", "3EB0SECOND")).toEqual({ kind: "sent" });
    await shop.waitForMessage({ text: "second" });

    expect(await sim.senderKeyHolders(id, OWN)).not.toContain(`${GUEST}:${HOSTED}`);
    expect(await asked()).toBe(before);
    const keys = await sim.stanzas({
      number: OWN,
      device: 1,
      direction: "in",
      xmlns: "encrypt",
      child: "key",
    });
    expect(keys.length).toBeGreaterThan(0);
  });
});
