import { describe, expect, it } from "vitest";
import type { Incoming } from "../../../src/model/messages.ts";
import { viewPoll } from "../../../src/model/polls.ts";
import { createInbox } from "../../../src/inbox/inbox.ts";
import { createPolls } from "../../../src/inbox/polls.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import type { Store } from "../../../src/store/store.ts";
import { incoming } from "../bot/messages.ts";
import { temporaryStore } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";

const DEVICE = 1;
const OPTIONS = ["Pizza", "Pasta", "Salad"];
const ANA = "4915100000001@s.whatsapp.net";
const BEN = "4915100000002@s.whatsapp.net";

function vote(sender: string, selected: string[] | null, at = 1_000): Incoming {
  const poll = { id: "3EB0AA", name: "Lunch?", options: OPTIONS, vote: selected && { selected, at } };
  return incoming({ type: "poll_vote", sender, poll });
}

async function keep(store: Store, ...votes: Incoming[]): Promise<void> {
  await store.writer.commit(createPolls(store).keepVotes(DEVICE, votes));
}

const count = (store: Store) => createPolls(store).tally(DEVICE, { id: "3EB0AA", options: OPTIONS });

const only = (voters: Record<string, string[]>) =>
  OPTIONS.map((name) => ({ name, voters: voters[name] ?? [] }));

describe("votes", () => {
  it("are counted per option, people once in the total whatever number of options they chose", async () => {
    const store = await temporaryStore();
    await keep(store, vote(ANA, ["Pizza", "Salad"]), vote(BEN, ["Pizza"], 2_000));

    expect(await count(store)).toEqual({
      options: only({ Pizza: ["4915100000001", "4915100000002"], Salad: ["4915100000001"] }),
      total: 2,
    });
  });

  it("are replaced by the same person's later one, never by an earlier one that comes late", async () => {
    const store = await temporaryStore();
    await keep(store, vote(ANA, ["Pizza"], 2_000));
    await keep(store, vote(ANA, ["Pasta"], 3_000));
    await keep(store, vote(ANA, ["Salad"], 1_000));

    expect(await count(store)).toEqual({ options: only({ Pasta: ["4915100000001"] }), total: 1 });
  });

  it("of thousands are read and opened a page at a time: everybody else has a turn in between", async () => {
    const store = await temporaryStore();
    const voters = Array.from({ length: 2_000 }, (_, index) => `${4915100000000 + index}@s.whatsapp.net`);
    await keep(store, ...voters.map((voter, index) => vote(voter, [OPTIONS[index % 3]!], index)));
    let opened = 0;
    let most = 0;
    let counting = true;
    const turn = (): void => {
      most = Math.max(most, opened);
      opened = 0;
      if (counting) setImmediate(turn);
    };
    turn();
    const box = {
      ...store.box,
      openJson: <T>(...sealed: [Uint8Array, string]) => (opened++, store.box.openJson<T>(...sealed)),
    };

    const tally = await createPolls({ ...store, box }).tally(DEVICE, { id: "3EB0AA", options: OPTIONS });
    counting = false;

    expect(tally.total).toBe(2_000);
    // The page before and the page after a turn, as it happens.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(400);
  });

  it("that were withdrawn count for nothing", async () => {
    const store = await temporaryStore();
    await keep(store, vote(ANA, ["Pizza"]), vote(BEN, ["Pizza"]));
    await keep(store, vote(ANA, [], 2_000));

    expect(await count(store)).toEqual({ options: only({ Pizza: ["4915100000002"] }), total: 1 });
  });

  it("of somebody whose number was told only later are one person's", async () => {
    const store = await temporaryStore();
    await keep(store, vote("77@lid", ["Pizza"], 1_000));
    expect((await count(store)).options[0]!.voters).toEqual(["77@lid"]);

    await store.writer.commit([
      { sql: "INSERT INTO lid_map VALUES (?, '77', '4915100000001', 0)", args: [DEVICE] },
    ]);
    expect((await count(store)).options[0]!.voters).toEqual(["4915100000001"]);
    await keep(store, vote(ANA, ["Pasta"], 2_000));

    expect(await count(store)).toEqual({ options: only({ Pasta: ["4915100000001"] }), total: 1 });
  });

  it("that could not be read change nothing, and other numbers' votes do not count", async () => {
    const store = await temporaryStore();
    await keep(store, vote(ANA, ["Pizza"]));
    await keep(store, vote(ANA, null));
    const elsewhere = createPolls(store).keepVotes(DEVICE + 1, [vote(BEN, ["Pasta"])]);
    await store.writer.commit(elsewhere);

    expect(await count(store)).toEqual({ options: only({ Pizza: ["4915100000001"] }), total: 1 });
  });

  it("for options that were added since are counted in a poll of ours, in its own chat alone", async () => {
    const store = await temporaryStore();
    const inbox = createInbox(store);
    const group = "120363000000000001@g.us";
    const added = (id: string, chatKey: string, options: string[]) =>
      incoming({
        id,
        chatKey,
        type: "edit",
        targetId: "3EB0AA",
        poll: { id: "3EB0AA", name: "Lunch?", options },
      });
    const changes = [
      added("1", group, [...OPTIONS, "Soup"]),
      added("2", ANA, [...OPTIONS, "Nothing"]),
      incoming({ id: "3", chatKey: group, type: "edit", targetId: "3EB0AA" }),
    ];
    const sql = `insert into devices (id, account_id, number, state, since, created_at) values (?, 'a', '1', 'linked', 0, 0)`;
    await store.writer.commit([{ sql, args: [DEVICE] }]);
    await commitIntake(
      store.writer,
      inbox.intake(DEVICE, changes, () => undefined),
    );
    await keep(store, vote(BEN, ["Soup"]));

    const draft = { kind: "poll" as const, name: "Lunch?", options: OPTIONS, selectable: 0 as const };
    const polls = createPolls(store, inbox.changesOf);
    expect(await polls.sent(DEVICE, { id: "3EB0AA", chat: group, draft })).toEqual({
      name: "Lunch?",
      options: [...only({}), { name: "Soup", voters: ["4915100000002"] }],
      total: 1,
    });
    expect((await polls.sent(DEVICE, { id: "3EB0AB", chat: group, draft })).options).toEqual(only({}));
  });

  it("do not stand in the database in clear", async () => {
    const store = await temporaryStore();
    await keep(store, vote(ANA, ["Pizza"]));

    const [row] = await rawRows(store, "SELECT selected FROM poll_votes", []);
    expect(Buffer.from(row!.selected as ArrayBuffer).toString("latin1")).not.toContain("Pizza");
  });
});

describe("a poll as bots and webhooks see it", () => {
  it("has the vote and the tally; what is not known is null", async () => {
    const store = await temporaryStore();
    const polls = createPolls(store);
    const said = vote(ANA, ["Pasta"]);
    await keep(store, said);

    const { poll } = await polls.withTally(DEVICE, said);
    expect(viewPoll(poll)).toEqual({
      id: "3EB0AA",
      name: "Lunch?",
      selected: ["Pasta"],
      options: only({ Pasta: ["4915100000001"] }),
      total: 1,
    });
    expect(viewPoll({ id: "3EB0BB", name: null, options: [], vote: null })).toEqual({
      id: "3EB0BB",
      name: null,
      selected: null,
      options: null,
      total: null,
    });
    expect(viewPoll(null)).toBeNull();
  });
});
