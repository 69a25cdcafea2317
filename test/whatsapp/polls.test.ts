import { describe, expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const OTHER = "31600000101";
const POLL = { kind: "poll" as const, name: "When?", options: ["Mon", "Tue"], mayAdd: true };

async function setup() {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN);
  const guest = await simulator.addContact(GUEST);
  const other = await simulator.addContact(OTHER, { addressing: "lid" });
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);
  return { simulator, owner, guest, other, number };
}

const received = (number: TestNumber, id: string) =>
  until(`message ${id}`, () => number.received.find((message) => message.id === id));

describe("a poll to which options may be added", () => {
  it.each(["pn", "lid"] as const)(
    "is read like any other in a group by %s, and its options grow",
    async (addressing) => {
      const { simulator, guest, other, number } = await setup();
      const group = await simulator.addGroup({ subject: "Team", members: [OWN, GUEST, OTHER], addressing });
      const { id } = await guest.send(group.id, POLL);
      expect(await received(number, id)).toMatchObject({
        type: "poll",
        text: "When?",
        poll: { id, name: "When?", options: ["Mon", "Tue"] },
      });

      const added = await simulator.addPollOption(OTHER, id, "Wed");
      expect(await received(number, added.id)).toMatchObject({
        type: "edit",
        targetId: id,
        text: "When?",
        poll: { id, name: "When?", options: ["Mon", "Tue", "Wed"] },
      });
      const again = await simulator.addPollOption(GUEST, id, "Thu");
      expect((await received(number, again.id)).poll?.options).toEqual(["Mon", "Tue", "Wed", "Thu"]);
      await until("the option at the other", async () =>
        (await simulator.messages(OTHER, { chat: group.id })).some(({ text }) => text === "Thu"),
      );
      const vote = await other.votePoll(id, ["Thu", "Mon"]);
      expect(await received(number, vote.id)).toMatchObject({
        type: "poll_vote",
        text: "Mon, Thu",
        poll: { name: "When?", options: ["Mon", "Tue", "Wed", "Thu"], vote: { selected: ["Mon", "Thu"] } },
      });
    },
  );

  it("made on the own phone names what is voted for, also what was added, whoever goes by which address", async () => {
    const { simulator, owner, guest, number } = await setup();
    const { id } = await owner.sendAsOwner(GUEST, POLL);
    expect(await received(number, id)).toMatchObject({ type: "poll", fromMe: true, poll: { name: "When?" } });
    await guest.waitForMessage({ id });
    const added = await simulator.addPollOption(GUEST, id, "Never");
    await received(number, added.id);

    for (const creator of ["pn", "lid"] as const)
      for (const voter of ["pn", "lid"] as const) {
        const vote = await guest.votePoll(id, ["Never"], { creator, voter });
        expect((await received(number, vote.id)).poll).toMatchObject({
          name: "When?",
          vote: { selected: ["Never"] },
        });
      }
    const withdrawn = await guest.votePoll(id, []);
    expect((await received(number, withdrawn.id)).poll?.vote?.selected).toEqual([]);
  });
});
