import { describe, expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

async function setup() {
  const sim = await simulate();
  await sim.addNumber(OWN, { name: "Shop" });
  const guest = await sim.addContact(GUEST);
  const number = (await whatsappOn(sim, await testStore(sim))).number(1);
  await link(sim, number);
  return { sim, guest, number };
}

const DEVICES = { xmlns: "usync", child: "usync" };
const KEYS = { xmlns: "encrypt", type: "get", child: "key" } as const;
const GROUP = { xmlns: "w:g2", type: "get" } as const;

describe("a question of a send that is asked too often", () => {
  it.each([
    ["devices", DEVICES, "person"],
    ["keys", KEYS, "person"],
    ["the group", GROUP, "group"],
    ["members' devices", DEVICES, "group"],
    ["members' keys", KEYS, "group"],
  ] as const)(
    "(for %s) is told from a refusal, and the message arrives once afterwards",
    async (_, of, to) => {
      const { sim, guest, number } = await setup();
      const { id: group } = await sim.addGroup({ subject: "Team", members: [GUEST, OWN] });
      const chat = to === "group" ? group : GUEST;
      await sim.faults.rateOverlimit({ number: OWN, device: 1, of, backoff: 40 });

      const first = await number.send(chat, "hello", "3EB0LIMITED");
      expect(first).toMatchObject({ kind: "limited", waitMs: expect.any(Number) });
      const { waitMs } = first as Extract<typeof first, { kind: "limited" }>;
      expect(waitMs).toBeGreaterThan(30_000);

      expect(await number.send(chat, "hello", "3EB0LIMITED")).toEqual({ kind: "sent" });
      await guest.waitForMessage({ text: "hello" });
      expect(await guest.messages({ repeated: true })).toHaveLength(1);
    },
  );

  it("says nothing of how long when WhatsApp does not", async () => {
    const { sim, number } = await setup();
    await sim.faults.rateOverlimit({ number: OWN, device: 1, of: DEVICES });

    const outcome = await number.send(GUEST, "hello", "3EB0LIMITED");

    expect(outcome).toEqual({ kind: "limited", reason: expect.stringContaining("429") });
  });
});

it("a connection that WhatsApp ends because of too much says so", async () => {
  const { sim, number } = await setup();
  const before = number.closes.length;

  await sim.faults.close({ number: OWN, code: 429 });

  await until("the end", () => number.closes.length > before);
  expect(number.closes.at(-1)).toMatchObject({ code: 429 });
});
