import { describe, expect, it } from "vitest";
import type { ServiceBehaviour } from "../../src/simulator/types.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const OTHER = "31600000101";

async function setup(behaviour: Partial<ServiceBehaviour>) {
  const simulator = await simulate({ behaviour });
  const owner = await simulator.addNumber(OWN);
  const guest = await simulator.addContact(GUEST);
  const other = await simulator.addContact(OTHER);
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);
  const last = (text: string) => until(text, () => number.received.find((one) => one.text === text));
  return { simulator, owner, guest, other, number, last };
}

describe.each([
  ["sealed with the message's secret", true],
  ["in the open", false],
])("an edit %s", (_, sealedEdits) => {
  it("has its new text, in a direct chat, in a group, and of the own phone", async () => {
    const { simulator, owner, guest, number, last } = await setup({ sealedEdits });
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN, OTHER] });

    for (const [n, chat] of [OWN, group.id].entries()) {
      const { id } = await guest.sendText(chat, `at noon ${n}`);
      await last(`at noon ${n}`);
      await guest.edit(id, `at one ${n}`);
      expect(await last(`at one ${n}`)).toMatchObject({ type: "edit", targetId: id, fromMe: false });
    }
    const { id } = await owner.typeAsOwner(GUEST, "typed");
    await last("typed");
    await owner.editAsOwner(id, "typed better");
    expect(await last("typed better")).toMatchObject({ type: "edit", targetId: id, fromMe: true });
    expect(number.received).toHaveLength(6);
  });
});

it("a sealed edit of a message that is not here is told without its text", async () => {
  const { simulator, guest, number } = await setup({ sealedEdits: true });
  await simulator.faults.placeholders({ number: OWN, n: 1, phone: "silent" });
  const { id } = await guest.sendText(OWN, "never came");
  await guest.edit(id, "changed");

  const edit = await until("the edit", () => number.received.find(({ type }) => type === "edit"));

  expect(edit).toMatchObject({ type: "edit", text: "", targetId: id });
});

it("an edit in the open of a message that is not here is told with the text that it brings", async () => {
  const { simulator, guest, last } = await setup({ sealedEdits: false });
  await simulator.faults.placeholders({ number: OWN, n: 1, phone: "silent" });
  const { id } = await guest.sendText(OWN, "never came");
  await guest.edit(id, "changed");

  expect(await last("changed")).toMatchObject({ type: "edit", targetId: id });
});

describe.each([
  ["beside the copy of the own devices", true],
  ["within it", false],
])("a poll of the own phone whose secret stands %s", (_, secretOutsideOwnCopy) => {
  it("gives its votes their names", async () => {
    const { owner, guest, number } = await setup({ secretOutsideOwnCopy });
    const { id } = await owner.sendAsOwner(GUEST, { kind: "poll", name: "When?", options: ["Mon", "Tue"] });
    await guest.waitForMessage({ id });
    await guest.votePoll(id, ["Tue"]);

    const vote = await until("the vote", () => number.received.find(({ type }) => type === "poll_vote"));

    expect(vote.poll).toMatchObject({ name: "When?", vote: { selected: ["Tue"] } });
  });
});

describe.each([
  ["gathered into one", true],
  ["each by itself", false],
])("receipts of a group's members, %s", (_, aggregatedReceipts) => {
  it("tell of the message that they are about", async () => {
    const { simulator, guest, other, number } = await setup({ aggregatedReceipts });
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN, OTHER] });
    const waId = "3EB0000000000000000042";

    expect(await number.send(group.id, "to all", waId)).toEqual({ kind: "sent" });
    for (const member of [guest, other]) {
      await member.waitForMessage({ id: waId });
      await member.markRead(waId);
    }

    const ofMessage = (state: string) =>
      number.receipts.filter((one) => one.waId === waId && one.state === state && one.jid === group.id);
    await until("delivered", () => ofMessage("delivered").length >= 2);
    await until("read", () => ofMessage("read").length >= 2);
    expect(number.receipts.every((one) => one.waId === waId)).toBe(true);
  });
});
