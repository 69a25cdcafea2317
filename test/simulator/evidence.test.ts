import { expect, it } from "vitest";
import { link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const ANA = "31611111111";
const BEN = "31622222222";

it("tells every message that the service took, whatever its kind, with its chat and how often", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const ana = await sim.addContact(ANA);
  await sim.addContact(BEN);
  const client = await link(sim, NUMBER);
  const { id: group } = await sim.addGroup({ subject: "All", members: [NUMBER, ANA, BEN] });
  const text = await ana.sendText(NUMBER, "hello");
  const poll = await ana.send(group, { kind: "poll", name: "When?", options: ["now", "later"] });
  const vote = await sim.votePoll(BEN, poll.id, ["later"]);
  const edit = await ana.edit(text.id, "hello!");
  const emoji = await sim.react(BEN, poll.id, "👍");
  const revoke = await ana.revoke(text.id);
  const post = await sim.postStatus(ANA, "out for lunch");
  await sim.faults.errorAck({ number: NUMBER, code: 479 });
  await client.say(ana.jid, "refused");
  await sim.faults.reachoutTimelock({ number: NUMBER, seconds: 600 });
  expect((await client.say(`${BEN}@s.whatsapp.net`, "to a stranger")).ack!.attrs.error).toBe("463");
  const { id } = await client.say(ana.jid, "answer");
  await ana.waitForMessage({ id });
  await sim.faults.redeliver({ number: NUMBER, id: text.id, as: "send" });
  await sim.settle();

  const taken = await sim.accepted();
  expect(taken.map((row) => [row.id, row.from, row.fromDevice, row.chat, row.kind, row.times])).toEqual([
    [text.id, ANA, 0, NUMBER, "text", 2],
    [poll.id, ANA, 0, group, "poll", 1],
    [vote.id, BEN, 0, group, "vote", 1],
    [edit.id, ANA, 0, NUMBER, "edit", 1],
    [emoji.id, BEN, 0, group, "reaction", 1],
    [revoke.id, ANA, 0, NUMBER, "revoke", 1],
    [post.id, ANA, 0, "status@broadcast", "text", 1],
    [id, NUMBER, 1, ANA, "text", 1],
  ]);
  expect(taken[3]).toMatchObject({ text: "hello!", target: text.id });
  expect((await sim.accepted({ by: "contact" })).map(({ from }) => from)).not.toContain(NUMBER);
  expect(await sim.accepted({ by: "owner", kind: "text" })).toHaveLength(1);
});

it("has a phone drop what it has, and tells how often it came and in which place", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const ana = await sim.addContact(ANA);
  const client = await link(sim, NUMBER);
  await ana.sendText(NUMBER, "hi");
  await client.untilText("hi");
  const first = await client.say(ana.jid, "first", "3EB0000000000000000001");
  await client.say(ana.jid, "second");
  await client.say(ana.jid, "first, with another text", first.id);
  await client.say(ana.jid, "third");
  await ana.waitForMessage({ text: "third" });

  const shown = await ana.messages();
  expect(shown.map(({ text }) => text)).toEqual(["first", "second", "third"]);
  const all = await ana.messages({ repeated: true });
  expect(all.map(({ repeated, ordinal }) => [repeated, ordinal])).toEqual([
    [false, 1],
    [false, 1],
    [true, 2],
    [false, 1],
  ]);
  expect((await sim.transcript({ id: first.id, contact: ANA })).map(({ ordinal }) => ordinal)).toEqual([
    1, 2,
  ]);
  const arrivals = await sim.arrivals({ contact: ANA });
  expect(arrivals.map(({ text, times, place }) => [text, times, place])).toEqual([
    ["first", 2, 1],
    ["second", 1, 2],
    ["third", 1, 3],
  ]);
  // What is answered is what is shown.
  await ana.react(first.id, "👍");
  await until("reaction", () => client.received.some(({ message }) => message.message?.reactionMessage));
});
