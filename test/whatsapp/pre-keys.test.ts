import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/model/time.ts";
import { child, element, IqError, type LibrarySimulator } from "../../src/simulator/inside.ts";
import type { ContactHandle } from "../../src/simulator/types.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";
import { rawRows } from "../unit/store/rows.ts";

const BEN = "31600000101";

async function setup() {
  const simulator = await simulate();
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const store = await testStore(simulator);
  const number = (await whatsappOn(simulator, store)).number(1);
  return { simulator, server: (simulator as LibrarySimulator).server, guest, number, store };
}

/** Whoever writes to it is heard. */
async function isHeard(guest: ContactHandle, number: TestNumber): Promise<boolean> {
  const { id } = await guest.sendText(OWN, "hello");
  return until("the text", () => number.received.some((message) => message.id === id));
}

it("a number that WhatsApp did not tell how many pre-keys it has can be written to all the same", async () => {
  const { simulator, server, guest, number } = await setup();
  server.hooks.iq.push((_, iq) =>
    iq.attrs.type === "get" && child(iq, "count") ? new IqError(503, "service-unavailable") : undefined,
  );

  await link(simulator, number);
  await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);

  expect(await isHeard(guest, number)).toBe(true);
});

it("an answer without a number of pre-keys counts as none", async () => {
  const { simulator, server, guest, number } = await setup();
  server.hooks.outgoing.push((_, node) =>
    node.tag === "iq" && child(node, "count") ? element("iq", node.attrs) : undefined,
  );

  await link(simulator, number);
  await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);

  expect(await isHeard(guest, number)).toBe(true);
});

it("pre-keys are made and stored before WhatsApp is asked how many it has, and none is made again for it", async () => {
  const { simulator, server, number, store } = await setup();
  const keys = (): ReturnType<typeof rawRows> =>
    rawRows(store, "select id, value from wa_keys where type = 'pre-key' order by id", []);
  let stored: ReturnType<typeof rawRows> | null = null;
  server.hooks.iq.push((_, iq) => {
    if (iq.attrs.type === "get" && child(iq, "count")) stored ??= keys();
    return undefined;
  });

  await link(simulator, number);
  await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);

  // Some may have been used since.
  const before = new Map((await stored!).map(({ id, value }) => [id, Buffer.from(value as ArrayBuffer)]));
  const [companion] = await simulator.companions(OWN);
  expect(before.size).toBeGreaterThanOrEqual(companion!.preKeys);
  for (const { id, value } of await keys()) expect(before.get(id)).toEqual(Buffer.from(value as ArrayBuffer));
});

it("pre-keys are uploaded once when WhatsApp has none", async () => {
  const { simulator, guest, number } = await setup();

  await link(simulator, number);
  expect(await isHeard(guest, number)).toBe(true);

  const uploads = { number: OWN, device: 1, direction: "in", xmlns: "encrypt", type: "set" } as const;
  expect(await simulator.countStanzas(uploads)).toBe(1);
});

describe("the signed pre-key", () => {
  const rotations = { number: OWN, device: 1, direction: "in", xmlns: "encrypt", child: "rotate" } as const;

  /** The number is away, and so many days go by for its signed pre-key. */
  async function daysGoBy({ number, store }: Awaited<ReturnType<typeof setup>>, days: number) {
    await number.close();
    await until("what is known of its age", async () => {
      const [row] = await rawRows(store, "select value from wa_creds", []);
      const creds = store.box.openJson<{ signedPreKeySince?: number }>(
        new Uint8Array(row!.value as ArrayBuffer),
        "wa_creds:1",
      );
      if (creds.signedPreKeySince === undefined) return false;
      const value = store.box.sealJson(
        { ...creds, signedPreKeySince: creds.signedPreKeySince - days * DAY_MS },
        "wa_creds:1",
      );
      return store.writer.commit([{ sql: "update wa_creds set value = ?", args: [value] }]);
    });
  }

  async function online({ number }: Awaited<ReturnType<typeof setup>>): Promise<void> {
    const { opens } = number;
    await number.connect();
    await until("the line", () => number.opens > opens);
  }

  it("is replaced after a month; first messages under this one and the one before are read at the first try", async () => {
    const scene = await setup();
    const { simulator, guest, number } = scene;
    const ben = await simulator.addContact(BEN);
    await link(simulator, number);
    await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);
    await daysGoBy(scene, 29);
    await online(scene);
    await simulator.settle();
    expect(await simulator.countStanzas(rotations)).toBe(0);

    await simulator.faults.holdDeliveries({ number: OWN });
    const late = await guest.sendText(OWN, "under the one before");
    await daysGoBy(scene, 2);
    await online(scene);
    await until("the rotation", async () => (await simulator.countStanzas(rotations)) === 1);
    await simulator.faults.releaseDeliveries({ number: OWN });
    await until("the late text", () => number.received.some(({ id }) => id === late.id));
    expect(await isHeard(ben, number)).toBe(true);
    expect(await isHeard(guest, number)).toBe(true);

    const asked = { number: OWN, device: 1, direction: "in", tag: "receipt", type: "retry" } as const;
    expect(await simulator.countStanzas(asked)).toBe(0);
    // Known to the next connection.
    await number.close();
    await online(scene);
    await simulator.settle();
    expect(await simulator.countStanzas(rotations)).toBe(1);
  });

  it("that WhatsApp did not take is told again; until then those who have the one before are heard", async () => {
    const scene = await setup();
    const { simulator, server, guest, number } = scene;
    let refuses = true;
    server.hooks.iq.push((_, iq) =>
      refuses && child(iq, "rotate") ? new IqError(503, "service-unavailable") : undefined,
    );
    await link(simulator, number);
    await until("its pre-keys", async () => (await simulator.companions(OWN))[0]!.preKeys > 0);
    await daysGoBy(scene, 31);
    await online(scene);
    await until("the rotation", async () => (await simulator.countStanzas(rotations)) === 1);
    expect(await isHeard(guest, number)).toBe(true);

    refuses = false;
    await number.close();
    await online(scene);
    await until("the rotation", async () => (await simulator.countStanzas(rotations)) === 2);
    expect(await isHeard(await simulator.addContact(BEN), number)).toBe(true);
    await simulator.settle();
    const asked = { number: OWN, device: 1, direction: "in", tag: "receipt", type: "retry" } as const;
    expect(await simulator.countStanzas(asked)).toBe(0);
  });
});
