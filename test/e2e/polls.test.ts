import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const LUNCH = { name: "Lunch?", option: ["Pizza", "Pasta", "Salad"] };

interface Shop extends World {
  receiver: Receiver;
  /** Sends the poll and waits until it is at the voters' phones. */
  ask(number: string, voters: string[], more?: object): Promise<string>;
  tally(id: string): Promise<Record<string, any>>;
  votes(): Record<string, any>[];
}

async function openShop(env: Record<string, string> = {}): Promise<Shop> {
  const world = await openWorld({ again: true, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  const receiver = await startReceiver();
  const events = ["message", "poll_vote", "own"];
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, events }, { key: world.key });
  return {
    ...world,
    receiver,
    async ask(number, voters, more = {}) {
      const body = { sender: SHOP, number, ...LUNCH, ...more };
      const answer = await world.gateway.post("/send-poll", body, { key: world.key });
      expect(answer.body).toMatchObject({ status: true, state: "sent" });
      for (const voter of voters) await world.sim.waitForMessage(voter, { id: answer.body.id });
      return answer.body.id;
    },
    async tally(id) {
      return (await world.gateway.get(`/messages/${id}`, { key: world.key })).body.data.poll;
    },
    votes: () => receiver.events.map(({ body }) => body).filter(({ type }) => type === "poll_vote"),
  };
}

const only = (voters: Record<string, string[]>) =>
  LUNCH.option.map((name) => ({ name, voters: voters[name] ?? [] }));

describe("a poll by REST", () => {
  it("arrives with its options and secret, for one answer or for any number", async () => {
    const shop = await openShop();
    const single = await shop.ask(ANA, [ANA]);
    const multiple = await shop.ask(BEN, [BEN], { countable: "0" });

    expect(await shop.sim.waitForMessage(ANA, { id: single })).toMatchObject({
      kind: "poll",
      poll: { name: "Lunch?", options: LUNCH.option, selectable: 1, hasSecret: true },
    });
    expect((await shop.sim.waitForMessage(BEN, { id: multiple })).poll).toMatchObject({ selectable: 0 });
    expect(await shop.tally(single)).toEqual({ name: "Lunch?", options: only({}), total: 0 });
    const creations = await shop.sim.stanzas({ number: SHOP, device: 1, tag: "message", direction: "in" });
    for (const { attrs, children } of creations) {
      expect(attrs.type).toBe("poll");
      expect(children).toContain("meta");
    }
  });

  it("reaches a LID and a group, and by GET as by POST", async () => {
    const shop = await openShop();
    const hidden = await shop.sim.addContact("4915100000009", { hidesNumber: true });
    const { id: group } = await shop.sim.addGroup({
      subject: "Team",
      creator: ANA,
      members: [ANA, BEN, SHOP],
    });
    const query = `api_key=${shop.key}&sender=${SHOP}&number=${hidden.lid}|${group}&name=Lunch%3F&option=Pizza,Pasta`;

    const { status, body } = await shop.gateway.get(`/send-poll?${query}`);

    expect(status).toBe(200);
    const [toHidden, toGroup] = body.results;
    const poll = { name: "Lunch?", options: ["Pizza", "Pasta"] };
    expect(await shop.sim.waitForMessage(hidden.number, { id: toHidden.id })).toMatchObject({ poll });
    expect(await shop.sim.waitForMessage(BEN, { id: toGroup.id })).toMatchObject({ poll, chat: group });
  });
});

describe("a vote", () => {
  for (const creator of ["pn", "lid"] as const)
    for (const voter of ["pn", "lid"] as const)
      it(`bound to the author's ${creator} and the voter's ${voter} is read, in a group and a direct chat`, async () => {
        const shop = await openShop();
        const { id: group } = await shop.sim.addGroup({
          subject: "Team",
          creator: ANA,
          members: [ANA, BEN, SHOP],
        });
        const inGroup = await shop.ask(group, [ANA, BEN]);
        const direct = await shop.ask(ANA, [ANA]);

        await shop.sim.votePoll(BEN, inGroup, ["Pasta"], { creator, voter });
        await shop.sim.votePoll(ANA, direct, ["Salad"], { creator, voter });

        await until(() => shop.votes().length === 2);
        const [ofBen, ofAna] = ["Pasta", "Salad"].map((text) =>
          shop.votes().find(({ message }) => message === text),
        );
        expect(ofBen).toMatchObject({
          from: BEN,
          chat: group,
          is_group: true,
          target_id: inGroup,
          poll: {
            id: inGroup,
            name: "Lunch?",
            selected: ["Pasta"],
            options: only({ Pasta: [BEN] }),
            total: 1,
          },
        });
        expect(ofAna).toMatchObject({ from: ANA, chat: ANA, poll: { id: direct, selected: ["Salad"] } });
        expect(await shop.tally(direct)).toEqual({
          name: "Lunch?",
          options: only({ Salad: [ANA] }),
          total: 1,
        });
      });

  it("can be changed and withdrawn, also after a restart, and all votes count", async () => {
    const shop = await openShop();
    const { id: group } = await shop.sim.addGroup({
      subject: "Team",
      creator: ANA,
      members: [ANA, BEN, SHOP],
    });
    const id = await shop.ask(group, [ANA, BEN], { countable: "0" });
    const counted = (voters: Record<string, string[]>, total: number) =>
      until(async () =>
        isDeepStrictEqual(await shop.tally(id), { name: "Lunch?", options: only(voters), total }),
      );

    await shop.sim.votePoll(ANA, id, ["Salad", "Pizza"]);
    await counted({ Pizza: [ANA], Salad: [ANA] }, 1);
    await shop.gateway.restart();
    await shop.online(SHOP);
    await shop.sim.votePoll(BEN, id, ["Pizza"]);
    await counted({ Pizza: [ANA, BEN], Salad: [ANA] }, 2);
    await shop.sim.votePoll(ANA, id, ["Pasta"]);
    await counted({ Pizza: [BEN], Pasta: [ANA] }, 2);
    await shop.sim.votePoll(BEN, id, []);
    await counted({ Pasta: [ANA] }, 1);

    await until(() => shop.votes().length === 4);
    expect(shop.votes().map(({ message, poll }) => [message, poll.selected])).toEqual([
      ["Pizza, Salad", ["Pizza", "Salad"]],
      ["Pizza", ["Pizza"]],
      ["Pasta", ["Pasta"]],
      ["", []],
    ]);
  });

  it("cast while the gateway was down counts once it is up", async () => {
    const shop = await openShop();
    const id = await shop.ask(ANA, [ANA]);
    await shop.gateway.stop();
    await shop.sim.votePoll(ANA, id, ["Pizza"]);
    await shop.gateway.restart();

    await until(async () => (await shop.tally(id)).total === 1);
    await until(() => shop.votes().length === 1);
    expect(shop.votes()[0]).toMatchObject({ message: "Pizza", poll: { total: 1 } });
  });

  it("from the owner's own phone counts, and is told to whoever wants own messages", async () => {
    const shop = await openShop();
    const id = await shop.ask(ANA, [ANA]);

    await shop.sim.votePoll(SHOP, id, ["Pizza"]);
    await shop.sim.votePoll(ANA, id, ["Pizza"]);

    await until(async () => (await shop.tally(id)).total === 2);
    expect((await shop.tally(id)).options[0].voters.toSorted()).toEqual([SHOP, ANA].toSorted());
    await until(() => shop.votes().length === 2);
    expect(shop.votes().find(({ from }) => from === SHOP)).toMatchObject({ chat: ANA, message: "Pizza" });
  });

  it("of somebody whose number is hidden names the LID", async () => {
    const shop = await openShop();
    const hidden = await shop.sim.addContact("4915100000009", { hidesNumber: true });
    const id = await shop.ask(hidden.lid, [hidden.number]);

    await shop.sim.votePoll(hidden.number, id, ["Pizza"]);

    await until(async () => (await shop.tally(id)).total === 1);
    expect((await shop.tally(id)).options).toEqual(only({ Pizza: [hidden.lid] }));
  });

  it("on somebody else's poll tells what was chosen when the poll came here too", async () => {
    const shop = await openShop();
    const { id: group } = await shop.sim.addGroup({
      subject: "Team",
      creator: ANA,
      members: [ANA, BEN, SHOP],
    });
    const hers = await shop.sim.send(ANA, group, {
      kind: "poll",
      name: "Where?",
      options: ["Here", "There"],
    });
    await shop.sim.waitForMessage(BEN, { id: hers.id });
    await until(() => shop.receiver.events.some(({ body }) => body.type === "poll"));
    expect(shop.receiver.events[0]!.body.poll).toEqual({
      id: hers.id,
      name: "Where?",
      selected: null,
      options: [
        { name: "Here", voters: [] },
        { name: "There", voters: [] },
      ],
      total: 0,
    });

    await shop.sim.votePoll(BEN, hers.id, ["There"]);

    await until(() => shop.votes().length === 1);
    expect(shop.votes()[0]).toMatchObject({ from: BEN, message: "There", poll: { id: hers.id, total: 1 } });
  });

  it("is answered like any message: by a bot that asks for it, else by the webhook", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
    onTestFinished(() => removeFolder(folder));
    const bot = `export default (b) => {
      b.on("poll_vote", (ctx) => {
        const { poll } = ctx.message;
        if (poll.selected.includes("Salad")) return ctx.next();
        ctx.reply(poll.name + " " + poll.selected.join("+") + " " + poll.total);
      });
    };`;
    writeFileSync(join(folder, "votes.mjs"), bot);
    const shop = await openShop({ BOTS_DIR: folder });
    shop.receiver.answer = { message: "Good choice." };
    const id = await shop.ask(ANA, [ANA]);

    await shop.sim.votePoll(ANA, id, ["Pizza"]);
    await shop.sim.waitForMessage(ANA, { text: "Lunch? Pizza 1" });
    expect(shop.votes()).toEqual([]);
    await shop.sim.votePoll(ANA, id, ["Salad"]);
    await shop.sim.waitForMessage(ANA, { text: "Good choice." });
  });
});
