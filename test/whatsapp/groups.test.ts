import { describe, expect, it } from "vitest";
import type { Simulator, SimulatorOptions } from "../../src/simulator/index.ts";
import { lidMap } from "../../drizzle/schema.ts";
import { defineQuery } from "../../src/store/query.ts";
import { link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const ANN = "31600000101";
const BEN = "31600000102";
const BEN_LATER = "31600000109";
const YEAR_BEFORE = {
  leaveIsRemove: false,
  groupVersions: false,
  joinersGetGroup: false,
  staleAddressing: false,
};
const SERVICES: [string, NonNullable<SimulatorOptions["behaviour"]>][] = [
  ["today", {}],
  ["a year ago", YEAR_BEFORE],
];

/** A linked number, and two contacts who are online. */
async function openService(behaviour: SimulatorOptions["behaviour"] = {}) {
  const sim = await simulate({ behaviour });
  await sim.addNumber(OWN, { name: "Shop" });
  const [ann, ben] = [await sim.addContact(ANN), await sim.addContact(BEN)];
  const store = await testStore(sim);
  const number = (await whatsappOn(sim, store)).number(1);
  await link(sim, number);
  return { sim, store, ann, ben, number };
}

const send = (number: TestNumber, group: string, text: string) =>
  number.send(group, text, `3EB0${text.toUpperCase()}`);

/** How often the number has asked for a group. */
const asked = (sim: Simulator) =>
  sim.countStanzas({ number: OWN, device: 1, direction: "in", xmlns: "w:g2", child: "query" });

const holders = async (sim: Simulator, group: string) =>
  (await sim.senderKeyHolders(group, OWN)).map((name) => name.split(":")[0]);

/** Resolves when the number has heard of so many changes. */
const told = (number: TestNumber, kind: string) =>
  until(`a change ${kind}`, () => number.groupChanges.some((change) => change.kind === kind));

describe.each(SERVICES)("with the service of %s", (_name, behaviour) => {
  const change = { "who leaves": { leave: [BEN] }, "who is removed": { remove: [BEN] } };
  it.each(Object.entries(change))(
    "%s reads nothing of what is written then, and all after coming back",
    async (_, gone) => {
      const { sim, ann, ben, number } = await openService(behaviour);
      const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, OWN] });
      expect(await send(number, id, "first")).toEqual({ kind: "sent" });
      await ben.waitForMessage({ text: "first" });
      number.groupChanges.length = 0;

      await sim.changeGroup(id, gone);
      await told(number, "members");
      expect(await send(number, id, "second")).toEqual({ kind: "sent" });
      await ann.waitForMessage({ text: "second" });
      expect(await holders(sim, id)).toEqual([OWN, ANN]);

      number.groupChanges.length = 0;
      await sim.changeGroup(id, { add: [BEN] });
      await told(number, "members");
      expect(await send(number, id, "third")).toEqual({ kind: "sent" });
      await ben.waitForMessage({ text: "third" });
      expect((await ben.messages()).map(({ text }) => text)).toEqual(["first", "third"]);
      expect(await holders(sim, id)).toEqual([OWN, ANN, BEN]);
    },
  );

  it.each(["lid", "pn"] as const)(
    "who has another number (%s) reads all of what is written then, and nobody has to be asked who it is",
    async (addressing) => {
      const { sim, ann, number } = await openService(behaviour);
      const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, OWN], addressing });
      await send(number, id, "first");
      await ann.waitForMessage({ text: "first" });
      const before = await asked(sim);
      number.groupChanges.length = 0;

      const other = await sim.changeNumber(BEN, BEN_LATER, {
        suggested: { community: id, groups: [] },
      });
      await told(number, "members");
      expect(await send(number, id, "second")).toEqual({ kind: "sent" });

      await other.waitForMessage({ text: "second" });
      expect((await other.messages()).map(({ text }) => text)).toEqual(["second"]);
      expect(await holders(sim, id)).toEqual([OWN, ANN, BEN_LATER].toSorted());
      const versioned = behaviour !== YEAR_BEFORE;
      expect(await asked(sim)).toBe(before + (versioned ? 0 : 1));
      // What that person writes is of the number that it has now.
      await other.sendText(id, "it is me");
      const { sender } = await until("the text", () =>
        number.received.find(({ text }) => text === "it is me"),
      );
      expect(sender).toBe(other.jid);
    },
  );

  it("who leaves while the number is away reads nothing of what is written then", async () => {
    const { sim, store, ann, number } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, OWN] });
    await send(number, id, "first");
    await number.close();

    await sim.changeGroup(id, { leave: [BEN] });
    // With nothing but what is stored, as after a restart.
    const later = (await whatsappOn(sim, store)).number(1);
    await later.connect();
    await until("the connection", () => later.opens === 1);
    await send(later, id, "second");

    await ann.waitForMessage({ text: "second" });
    expect(await holders(sim, id)).toEqual([OWN, ANN]);
  });

  it("a message that is refused leaves no key behind that anybody could have", async () => {
    const { sim, ann, number } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, OWN] });
    await send(number, id, "first");
    await sim.faults.errorAck({ number: OWN, to: id, code: 500 });
    await send(number, id, "refused");
    number.groupChanges.length = 0;

    await sim.changeGroup(id, { leave: [BEN] });
    await told(number, "members");
    await send(number, id, "second");

    await ann.waitForMessage({ text: "second" });
    expect(await holders(sim, id)).toEqual([OWN, ANN]);
  });

  it("messages disappear as the group says from the next one on", async () => {
    const { sim, ann, number } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, OWN] });
    const expiration = async (text: string) => {
      await send(number, id, text);
      await ann.waitForMessage({ text });
      const filter = { number: OWN, device: 1, direction: "in", tag: "message" } as const;
      return (await sim.stanzas(filter)).at(-1)!.attrs.expiration;
    };
    expect(await expiration("first")).toBeUndefined();
    const before = await asked(sim);

    await sim.changeGroup(id, { ephemeral: 86_400 });
    await told(number, "ephemeral");
    expect(await expiration("second")).toBe("86400");
    number.groupChanges.length = 0;
    await sim.changeGroup(id, { ephemeral: 0 });
    await told(number, "ephemeral");
    expect(await expiration("third")).toBeUndefined();

    expect(await asked(sim)).toBe(before);
  });

  it("a group that moves to LIDs is written to by LIDs from the next message on, which arrives once", async () => {
    const { sim, ann, number } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, OWN], addressing: "pn" });
    await send(number, id, "first");
    await sim.changeGroup(id, { addressing: "lid" });

    expect(await send(number, id, "second")).toEqual({ kind: "sent" });

    await ann.waitForMessage({ text: "second" });
    if (behaviour === YEAR_BEFORE) return void (await sim.expectViolation("addressing_mode"));
    const filter = { number: OWN, device: 1, direction: "in", tag: "message", id: "3EB0SECOND" } as const;
    const modes = (await sim.stanzas(filter)).map(({ attrs }) => attrs.addressing_mode);
    expect(modes).toEqual(["pn", "lid"]);
    expect((await ann.messages({ repeated: true })).map(({ text }) => text)).toEqual(["first", "second"]);
    expect(await send(number, id, "third")).toEqual({ kind: "sent" });
    expect(
      (await sim.stanzas({ ...filter, id: "3EB0THIRD" })).map(({ attrs }) => attrs.addressing_mode),
    ).toEqual(["lid"]);
  });

  it("the pairs of those whom a notification names are known, though nobody was asked", async () => {
    const { sim, store, ann, ben, number } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, OWN] });
    await told(number, "group");
    await sim.changeGroup(id, { add: [BEN] });

    const known = async () =>
      (
        await store.read(defineQuery("SELECT pn_user FROM lid_map LIMIT 99", { pnUser: lidMap.pnUser }), [])
      ).map(({ pnUser }) => pnUser);
    await until("both pairs", async () =>
      [ann.number, ben.number].every(async (one) => (await known()).includes(one)),
    );
    await until("Ben's pair", async () => (await known()).includes(ben.number));
    expect(await asked(sim)).toBe(0);
  });
});

describe("what is told of a group that is written to", () => {
  it("is followed without a question", async () => {
    const { sim, ben, number } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, OWN] });
    await send(number, id, "first");
    const before = await asked(sim);

    await sim.changeGroup(id, {
      add: [BEN],
      promote: [BEN],
      subject: "A-Team",
      description: "x",
      picture: true,
    });
    await sim.changeGroup(id, { approval: true, locked: true, revokeInvite: true, leave: [ANN] });
    await until("the leaving", () =>
      number.groupChanges.some((change) => change.kind === "members" && change.action === "remove"),
    );
    await send(number, id, "second");

    await ben.waitForMessage({ text: "second" });
    expect(await holders(sim, id)).toEqual([OWN, BEN]);
    expect(await asked(sim)).toBe(before);
  });

  it("is asked for when something before it was missed", async () => {
    const { sim, ben, number } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, OWN] });
    await send(number, id, "first");
    const before = await asked(sim);
    const { server } = sim as Simulator & {
      server: { world: { group(id: string): { members: Map<string, string> } } };
    };
    // Somebody has come of whom nobody was told.
    server.world.group(id).members.set(BEN, "member");
    (server.world.group(id) as unknown as { versions: { members: number } }).versions.members += 1;
    number.groupChanges.length = 0;

    await sim.changeGroup(id, { promote: [ANN] });
    await told(number, "members");
    await send(number, id, "second");

    await ben.waitForMessage({ text: "second" });
    expect(await asked(sim)).toBe(before + 1);
  });
});

describe("error 421", () => {
  it("without a mode has the group asked for and the message sent once more; twice it is a refusal", async () => {
    const { sim, ann, number } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, OWN] });
    await sim.faults.errorAck({ number: OWN, to: id, code: 421 });

    expect(await send(number, id, "first")).toEqual({ kind: "sent" });
    await ann.waitForMessage({ text: "first" });
    await sim.faults.errorAck({ number: OWN, to: id, code: 421, times: 2 });

    expect(await send(number, id, "second")).toMatchObject({ kind: "refused", code: 421 });
    expect(await sim.countStanzas({ number: OWN, device: 1, direction: "in", tag: "message" })).toBe(4);
    expect(await send(number, id, "third")).toEqual({ kind: "sent" });
    await ann.waitForMessage({ text: "third" });
  });
});
