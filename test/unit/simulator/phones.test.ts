import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { behaviourOf } from "../../../src/simulator/behaviour.ts";
import { startSimulator } from "../../../src/simulator/index.ts";
import { phoneFiles } from "../../../src/simulator/media/phone-files.ts";
import type { DecryptedEvent, PhoneViolation } from "../../../src/simulator/people/events.ts";
import type { PersonOptions, SimulatedPerson } from "../../../src/simulator/people/people.ts";
import { createPerson } from "../../../src/simulator/people/person.ts";
import { seededRandom } from "../../../src/simulator/random.ts";
import { hostTime } from "../../../src/simulator/time.ts";
import type { LibrarySimulator } from "../../../src/simulator/simulator.ts";

const ANNA = "491510000001";
const BEN = "491510000002";

/** What one person's phones have told. */
interface Told {
  read: DecryptedEvent[];
  receipts: Record<string, string>[];
  acks: { id: string; error?: string }[];
  violations: PhoneViolation[];
}

let sim: LibrarySimulator;

beforeEach(async () => {
  sim = (await startSimulator({ seed: "phones", controlPort: false })) as LibrarySimulator;
});

afterEach(() => sim.stop());

/** A person on the simulator's server, whose devices tell this test what they see. */
async function person(
  number: string,
  options: Partial<PersonOptions> = {},
): Promise<{ person: SimulatedPerson; told: Told }> {
  const { lid } = await sim.addContact(number, { devices: options.devices });
  const told: Told = { read: [], receipts: [], acks: [], violations: [] };
  const world = {
    time: hostTime,
    behaviour: behaviourOf(),
    random: seededRandom("phones"),
    attach: sim.server.attach,
    files: phoneFiles(sim.server.media),
    recorder: {
      onDecrypted: (event: DecryptedEvent) => told.read.push(event),
      onUndecryptable: () => {},
      onSent: () => {},
      onAck: (ack: Told["acks"][number]) => told.acks.push(ack),
      onReceipt: ({ attrs }: { attrs: Record<string, string> }) => told.receipts.push(attrs),
      onViolation: (violation: PhoneViolation) => told.violations.push(violation),
    },
  };
  return { person: createPerson(world, { number, lid: lid.split("@")[0]!, ...options }), told };
}

/** The same, online: otherwise the simulator would wake the contact that it has itself under this number. */
async function onlinePerson(...args: Parameters<typeof person>): ReturnType<typeof person> {
  const made = await person(...args);
  await made.person.wake();
  return made;
}

const texts = ({ read }: Told) => read.map(({ text }) => text);

describe("one person's devices", () => {
  it("make no connection and no keys before they are needed", async () => {
    const anna = await person(ANNA);

    expect(anna.person.awake).toBe(false);
    expect(sim.server.world.account(ANNA).devices.get(0)!.identity).toBeUndefined();

    await anna.person.wake();
    expect(sim.server.world.account(ANNA).devices.get(0)!.preKeys.size).toBeGreaterThan(5);
  });

  it("come back with their sessions and get what waited, in order", async () => {
    const [anna, ben] = [await onlinePerson(ANNA), await onlinePerson(BEN)];
    await anna.person.sendText(BEN, "before");
    await ben.person.settle();
    await sim.settle();
    anna.person.sleep();
    for (const text of ["1", "2", "3"]) await ben.person.sendText(ANNA, text);
    await sim.settle();
    expect(texts(anna.told)).toEqual([]);

    await anna.person.wake();
    await sim.settle();
    await anna.person.sendText(BEN, "after");
    await sim.settle();

    expect(texts(anna.told)).toEqual(["1", "2", "3"]);
    // A privacy token has come in between.
    const places = anna.told.read.map(({ attrs }) => Number(attrs.offline));
    expect(places[0]).toBe(0);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(ben.told.read.map(({ encType }) => encType)).toEqual(["pkmsg", "msg"]);
  });

  it("upload more one-time pre-keys when few are left", async () => {
    const anna = await onlinePerson(ANNA);
    const { preKeys } = sim.server.world.account(ANNA).devices.get(0)!;
    const first = new Set(preKeys.keys());

    for (let other = 0; other < first.size; other++) {
      await sim.addContact(`49152000000${10 + other}`);
      await sim.sendText(`49152000000${10 + other}`, ANNA, `hello ${other}`);
    }
    await sim.settle();

    expect(preKeys.size).toBeGreaterThan(5);
    expect([...preKeys.keys()].filter((id) => first.has(id)).length).toBeLessThan(5);
    expect(texts(anna.told)).toHaveLength(first.size);
  });

  it("send read receipts when asked to, or always", async () => {
    const [anna, ben] = [await onlinePerson(ANNA), await onlinePerson(BEN, { readsMessages: true })];
    const { id } = await anna.person.sendText(BEN, "hello");
    await sim.settle();
    const { id: answer } = await ben.person.sendText(ANNA, "answer");
    await sim.settle();
    expect(anna.told.receipts.map(({ type }) => type)).toEqual([undefined, "read"]);
    expect(anna.told.receipts.every((receipt) => receipt.id === id)).toBe(true);
    expect(ben.told.receipts.map(({ type }) => type)).toEqual([undefined]);

    await anna.person.mark([answer], "read");
    await sim.settle();

    expect(ben.told.receipts.map(({ type }) => type)).toEqual([undefined, "read"]);
    await expect(anna.person.mark(["unknown"], "read")).rejects.toThrow("No message unknown");
  });

  it("tell which copies are their own and in which chat they were written", async () => {
    const [anna, ben] = [await onlinePerson(ANNA, { devices: 2 }), await onlinePerson(BEN)];

    await anna.person.sendText(BEN, "from the second device", { device: 1 });
    await sim.settle();

    const [ownLid, chat] = [anna.person.lid, `${ben.person.lid}@lid`];
    expect(anna.told.read).toMatchObject([{ ownCopy: true, chat, from: `${ownLid}:1@lid` }]);
    expect(ben.told.read).toMatchObject([{ ownCopy: false, fromNumber: ANNA, chat: `${ownLid}@lid` }]);
  });

  it("hear what the server makes of a message", async () => {
    const anna = await onlinePerson(ANNA);
    await onlinePerson(BEN);
    sim.server.hooks.verdict.push(() => 463);

    const { id } = await anna.person.sendText(BEN, "refused");
    await sim.settle();

    expect(anna.told.acks).toMatchObject([{ id, error: "463" }]);
  });

  it("find fault with an own copy that is not wrapped as one", async () => {
    const anna = await onlinePerson(ANNA, { devices: 2 });
    const ben = await onlinePerson(BEN);

    const deviceSentMessage = { destinationJid: `${BEN}@s.whatsapp.net`, message: {} };
    const bytes = proto.Message.encode({ deviceSentMessage }).finish();
    await anna.person.sendContent(BEN, { kind: "raw", bytes });
    await sim.settle();

    expect(ben.told.violations).toMatchObject([{ rule: "own_copy" }]);
    expect(anna.told.violations).toEqual([]);
  });
});

describe("two phones at once", () => {
  it("read 200 crossing messages at the first try, in order, in both directions", async () => {
    const [anna, ben] = [await onlinePerson(ANNA), await onlinePerson(BEN)];
    const numbers = Array.from({ length: 100 }, (_, index) => String(index));

    const write = async (from: SimulatedPerson, to: string) => {
      for (const text of numbers) {
        await from.sendText(to, text);
        if (Number(text) % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([write(anna.person, BEN), write(ben.person, ANNA)]);
    await sim.settle();

    expect(texts(ben.told)).toEqual(numbers);
    expect(texts(anna.told)).toEqual(numbers);
    expect([...anna.told.read, ...ben.told.read].every(({ tries }) => tries === 1)).toBe(true);
    expect(await sim.violations()).toEqual([]);
  });

  it("reach somebody who comes online only because both of them write", async () => {
    const writers = ["491510000003", "491510000004"];
    await Promise.all([BEN, ...writers].map((number) => sim.addContact(number, { devices: 2 })));

    await Promise.all(writers.map((number) => sim.sendText(number, BEN, `from ${number}`)));
    await sim.settle();

    expect(await sim.violations()).toEqual([]);
    expect((await sim.messages(BEN)).map(({ text }) => text).sort()).toEqual(
      writers.map((number) => `from ${number}`),
    );
  });
});
