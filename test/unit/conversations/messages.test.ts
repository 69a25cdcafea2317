import { describe, expect, it } from "vitest";
import type { MessageFilter } from "../../../src/conversations/messages.ts";
import { fullScans, planOf, recordingStore } from "../../_setup/query-plan.ts";
import { DEVICE, jid, OWN_NUMBER, scriptedLine, submitTo, until } from "../outbox/harness.ts";
import { startPipeline, text, typed, witness, type PipelineRun } from "../pipeline/harness.ts";
import { ALL, conversationsOn, pair } from "./harness.ts";

const ANA = "4915100000001";
const BEN = "4915100000002";

async function listed(run: PipelineRun, filter: Partial<MessageFilter> = {}) {
  const { messages } = await conversationsOn(run.store).messages.list({ ...ALL, ...filter });
  return messages;
}
const texts = async (run: PipelineRun, filter: Partial<MessageFilter> = {}): Promise<string[]> =>
  (await listed(run, filter)).map(({ message }) => message);

/** What comes after it is newer: the list goes by milliseconds. */
async function later(): Promise<void> {
  const now = Date.now();
  await until(() => expect(Date.now()).toBeGreaterThan(now));
}

/** Ana writes and is answered, the owner writes to her by hand, Ben is written to and answers nothing. */
async function aDay(): Promise<PipelineRun> {
  const run = await startPipeline();
  await run.connect(scriptedLine());
  await run.receive(text(ANA, "hello", { pushName: "Ana" }));
  await until(async () => expect(await texts(run, { state: "sent" })).toEqual(["re: hello"]));
  await later();
  await submitTo(run.outbox, [BEN], "offer");
  await later();
  await run.receive(typed(ANA, "by hand"));
  await until(async () => expect(await run.undecided()).toBe(0));
  await until(async () => expect(await texts(run, { state: "sent" })).toHaveLength(2));
  return run;
}

describe("the list of messages", () => {
  it("has what came, what was sent and what was typed on the phone, newest first", async () => {
    const run = await aDay();

    expect(await listed(run)).toMatchObject([
      { message: "by hand", direction: "out", chat: ANA, from: OWN_NUMBER, sender: OWN_NUMBER, type: "text" },
      { message: "offer", direction: "out", chat: BEN, from: OWN_NUMBER, state: "sent" },
      { message: "re: hello", direction: "out", chat: ANA, state: "sent", answeredBy: "bot:echo" },
      { message: "hello", direction: "in", chat: ANA, from: ANA, answeredBy: "bot:echo" },
    ]);
  });

  it("has an answer above its message, also of the same millisecond, and on the next page", async () => {
    const run = await aDay();
    await run.receive(typed(ANA, "by hand, too"));
    await run.receive(text(BEN, "bye"));
    await until(async () => expect(await texts(run, { state: "sent" })).toContain("re: bye"));
    await run.store.writer.commit([
      { sql: "UPDATE inbox SET received_at = 1000", args: [] },
      { sql: "UPDATE outbox SET created_at = 1000", args: [] },
    ]);

    const all = await texts(run);
    expect(all.indexOf("re: bye")).toBeLessThan(all.indexOf("bye"));
    expect(all.indexOf("re: hello")).toBeLessThan(all.indexOf("hello"));
    const paged: string[] = [];
    for (let before: string | undefined; ;) {
      const { messages, next } = await conversationsOn(run.store).messages.list({ ...ALL, limit: 1, before });
      paged.push(...messages.map(({ message }) => message));
      if (next === null) break;
      before = next;
    }
    expect(paged).toEqual(all);
  });

  it("is filtered by chat, direction, state and time", async () => {
    const run = await aDay();
    const [, offer] = await listed(run);

    expect(await texts(run, { chat: jid(ANA) })).toEqual(["by hand", "re: hello", "hello"]);
    expect(await texts(run, { direction: "in" })).toEqual(["hello"]);
    expect(await texts(run, { direction: "out" })).toEqual(["by hand", "offer", "re: hello"]);
    expect(await texts(run, { state: "sent", chat: jid(ANA) })).toEqual(["re: hello"]);
    expect(await texts(run, { state: "failed" })).toEqual([]);
    expect(await texts(run, { state: "sent", direction: "in" })).toEqual([]);
    expect(await texts(run, { since: offer!.at + 1 })).not.toContain("hello");
    expect(await texts(run, { before: new Date(offer!.at).toISOString() })).not.toContain("by hand");
    expect(await texts(run, { devices: [{ id: 2, number: "1" }] })).toEqual([]);
  });

  it("has what is still queued, in its state", async () => {
    const run = await startPipeline();
    await run.receive(text(ANA, "hello"));
    await until(async () => expect(await texts(run, { state: "queued" })).toEqual(["re: hello"]));
  });

  it("takes a person who is known by LID and by number for one, whichever is asked for", async () => {
    const run = await startPipeline({ answerers: [] });
    const hidden = { chat: "77@lid", chatKey: "77@lid", sender: "77@lid", number: null, lid: "77@lid" };
    await run.receive(text(ANA, "hidden", hidden));
    await run.store.writer.commit([pair("77", ANA)]);
    await run.receive(text(ANA, "known"));

    for (const chat of [jid(ANA), "77@lid"])
      expect(await listed(run, { chat })).toMatchObject([
        { message: "known", chat: ANA },
        { message: "hidden", chat: ANA },
      ]);
  });

  it("marks what was edited and revoked, by its writer alone", async () => {
    const run = await startPipeline({ answerers: [] });
    await run.receive(text(ANA, "one", { id: "A1" }), text(ANA, "two", { id: "A2" }));
    await run.receive(
      text(ANA, "uno", { type: "edit", targetId: "A1" }),
      text(BEN, "stolen", { type: "edit", targetId: "A2" }),
      text(BEN, "", { type: "revoke", targetId: "A1" }),
    );
    const byId = async (id: string) => (await listed(run)).find((message) => message.id === id);
    expect(await byId("A1")).toMatchObject({ message: "uno", edited: true });
    expect(await byId("A1")).not.toHaveProperty("revoked");
    expect(await byId("A2")).toMatchObject({ message: "two" });
    expect(await byId("A2")).not.toHaveProperty("edited");

    await run.receive(text(ANA, "", { type: "revoke", targetId: "A2" }));
    expect(await byId("A2")).toMatchObject({ message: "two", revoked: true });
  });

  it("keeps the text that is known when an edit could not be opened", async () => {
    const run = await startPipeline({ answerers: [] });
    await run.receive(text(ANA, "one", { id: "A1" }), text(ANA, "two", { id: "A2" }));
    await run.receive(
      text(ANA, "uno", { type: "edit", targetId: "A1" }),
      text(ANA, "", { type: "edit", targetId: "A1" }),
      text(ANA, "", { type: "edit", targetId: "A2" }),
    );
    const byId = async (id: string) => (await listed(run)).find((message) => message.id === id);
    expect(await byId("A1")).toMatchObject({ message: "uno", edited: true });
    expect(await byId("A2")).toMatchObject({ message: "two", edited: true });
  });

  it("has the text of the edit that was written last, whichever came last", async () => {
    const run = await startPipeline({ answerers: [] });
    const at = Math.floor(Date.now() / 1000);
    await run.receive(text(ANA, "one", { id: "A1", timestamp: at }));
    await run.receive(
      text(ANA, "three", { type: "edit", targetId: "A1", timestamp: at + 2 }),
      text(ANA, "two", { type: "edit", targetId: "A1", timestamp: at + 1 }),
    );
    expect((await listed(run)).find(({ id }) => id === "A1")).toMatchObject({ message: "three" });
  });

  it("opens what nobody could open once more, as often for a page as for a few messages", async () => {
    const run = await startPipeline({ answerers: [] });
    const ids = Array.from({ length: 40 }, (_, index) => `A${index}`);
    await run.receive(...ids.map((id) => text(ANA, "as it came", { id })));
    await run.receive(...ids.map((targetId) => text(ANA, "", { type: "edit", targetId })));
    const asked: (string | null)[] = [];
    const { messages } = conversationsOn(run.store, [], {
      async readAgain(_, edit) {
        asked.push(edit.targetId);
        return edit;
      },
    });

    const page = (await messages.list({ ...ALL, limit: 100 })).messages;
    expect(page.filter(({ edited }) => edited)).toHaveLength(40);
    expect(new Set(page.filter(({ edited }) => edited).map(({ message }) => message))).toEqual(
      new Set(["as it came"]),
    );
    expect(asked).toHaveLength(20);
  });

  it("has files with their address, and what was quoted", async () => {
    const run = await startPipeline({ answerers: [] });
    const media = { kind: "image" as const, mimetype: "image/jpeg", fileName: "", size: 7 };
    const quoted = { id: "Q", from: jid(BEN), text: "quoted" };
    await run.receive(text(ANA, "look", { type: "image", media, quoted }));

    const [message] = await listed(run);
    expect(message).toMatchObject({
      media: { type: "image", mimetype: "image/jpeg", fileName: null, size: 7 },
      quoted: { id: "Q", from: BEN, text: "quoted" },
    });
    expect(message!.media!.url).toMatch(/^https:\/\/gateway\/media\/\d+$/);
  });

  it("has who wrote it, polls with votes, places, cards, and what a reaction is about", async () => {
    const run = await startPipeline({ answerers: [] });
    const poll = { id: "P", name: "Lunch?", options: ["Rice", "Soup"] };
    const location = { latitude: 1.5, longitude: 2, name: "Shop", address: null };
    const contacts = [{ name: "Ben", numbers: [BEN] }];
    await run.receive(
      text(ANA, "Lunch?", { type: "poll", poll, pushName: "Ana" }),
      text(ANA, "Soup", {
        type: "poll_vote",
        targetId: "P",
        poll: { ...poll, vote: { selected: ["Soup"], at: 1 } },
      }),
      text(ANA, "Shop", { type: "location", location }),
      text(ANA, "Ben", { type: "contact", contacts }),
      text(ANA, "👍", { type: "reaction", reaction: { id: "M", emoji: "👍" } }),
    );

    const messages = await listed(run);
    const of = (type: string) => messages.find((message) => message.type === type);
    expect(of("poll")).toMatchObject({ name: "Ana", poll });
    expect(of("poll_vote")).toMatchObject({ targetId: "P", poll: { ...poll, selected: ["Soup"] } });
    expect(of("location")).toMatchObject({ location });
    expect(of("contact")).toMatchObject({ contacts });
    expect(of("reaction")).toMatchObject({ targetId: "M", message: "👍" });
  });

  it("names what the gateway sent once, though WhatsApp gives it back", async () => {
    const run = await aDay();
    const [, offer] = await listed(run);
    await run.receive(typed(BEN, "offer", { id: offer!.id }));

    expect(await texts(run)).toEqual(["by hand", "offer", "re: hello", "hello"]);
  });

  it("leaves out status broadcasts and timers of bots, and a damaged row hides no other", async () => {
    const run = await startPipeline({ answerers: [] });
    await run.receive(text(ANA, "one", { id: "DAMAGED" }), text(ANA, "two"));
    await run.receive(
      text("status", "story", { chat: "status@broadcast", chatKey: "status@broadcast", chatKind: "status" }),
    );
    await run.store.writer.commit([
      { sql: "UPDATE inbox SET body = x'00' WHERE wa_id = 'DAMAGED'", args: [] },
    ]);

    expect(await texts(run)).toEqual(["two", ""]);
  });
});

/** Many messages at the same few moments: every 7th is Ben's. */
async function many(count: number): Promise<PipelineRun> {
  const run = await startPipeline({ answerers: [witness().answerer], started: false });
  const body = Buffer.from("none");
  const rows = Array.from({ length: count }, (_, index) => {
    const at = 1_700_000_000_000 + Math.floor(index / 5);
    const chat = jid(index % 7 === 0 ? BEN : ANA);
    return index % 2 === 0
      ? {
          sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
            VALUES (?, ?, ?, ?, ?, 'text', 'done', 0, ?, ?)`,
          args: [DEVICE, chat, chat, `M${index}`, index % 6 === 0 ? 1 : 0, at, body],
        }
      : {
          sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, state, body, created_at)
            VALUES (?, ?, ?, ?, ?, 'text', 'api', 0, ?, ?, ?)`,
          args: [DEVICE, `M${index}`, chat, chat, BEN, index % 21 === 0 ? "failed" : "read", body, at],
        };
  });
  await run.store.writer.commit(rows);
  return run;
}

describe("pages of messages", () => {
  async function pages(run: PipelineRun, filter: Partial<MessageFilter>) {
    const found: { ids: string[]; total: number | null }[] = [];
    const { list } = conversationsOn(run.store).messages;
    for (let before: string | undefined; ;) {
      const { messages, next, total } = await list({ ...ALL, ...filter, before });
      found.push({ ids: messages.map(({ id }) => id), total });
      if (next === null) return found;
      before = next;
    }
  }

  it("have each message once, whatever is asked for, and say how many there are when one page has them all", async () => {
    const run = await many(400);
    const chat = jid(BEN);
    for (const filter of [
      {},
      { chat },
      { direction: "out" },
      { state: "failed" },
      { state: "read", chat },
    ] as const) {
      const [whole] = await pages(run, { ...filter, limit: 400 });
      const parts = await pages(run, { ...filter, limit: 7 });
      expect(parts.flatMap(({ ids }) => ids)).toEqual(whole!.ids);
      expect(whole!.total).toBe(whole!.ids.length);
      expect(whole!.ids.length).toBeGreaterThan(7);
      expect(new Set(whole!.ids).size).toBe(whole!.ids.length);
      for (const { total } of parts) expect(total).toBeNull();
    }
  });

  it("end when enough was looked at, though hardly anything may be seen, and go on", async () => {
    const run = await many(8_000);
    const found = await pages(run, { allowed: ([chat]) => chat === BEN, limit: 100 });
    const none = await pages(run, { allowed: () => false, limit: 100 });

    expect(found.flatMap(({ ids }) => ids)).toHaveLength(Math.ceil(8_000 / 7));
    expect(none.length).toBeGreaterThan(1);
    expect(none.flatMap(({ ids }) => ids)).toEqual([]);
  });

  it("are found by index, and read no more than they show", async () => {
    const run = await many(50);
    const { store, statements } = recordingStore(run.store);
    const { list } = conversationsOn(store).messages;
    const filters: Partial<MessageFilter>[] = [
      {},
      { chat: jid(BEN) },
      { state: "read" },
      { state: "queued" },
      { chat: jid(BEN), state: "read" },
      { allowed: () => true },
    ];
    for (const filter of filters) await list({ ...ALL, ...filter });

    const plans = await Promise.all(statements().map((sql) => planOf(run.store, sql)));
    const inner = plans.flat().join("\n");
    for (const name of [
      "inbox_listed",
      "inbox_listed_chat",
      "inbox_changes",
      "outbox_listed",
      "outbox_listed_chat",
    ])
      expect(inner).toContain(`INDEX ${name} (`);
    expect(inner).toContain("INDEX outbox_listed_state (device_id=? AND state=? AND created_at>?");
    expect(inner).toContain("INDEX outbox_waiting (device_id=? AND id<?)");
    for (const sql of statements()) expect(await fullScans(run.store, sql)).toEqual([]);
  });

  it("is searched for words, in whatever case and without accents, a limited number of messages at a time", async () => {
    const run = await startPipeline({ answerers: [] });
    await run.receive(text(ANA, "¿Tienen CAFÉ?"), text(BEN, "a café"), text(ANA, "nothing of it"));
    expect(await texts(run, { q: "cafe" })).toEqual(["a café", "¿Tienen CAFÉ?"]);
    expect(await texts(run, { q: "Café", chat: jid(ANA) })).toEqual(["¿Tienen CAFÉ?"]);
    expect(await texts(run, { q: "cafe", direction: "out" })).toEqual([]);

    // What lies far back is found by whoever goes on.
    for (let at = 0; at < 8; at++)
      await run.receive(...Array.from({ length: 100 }, (_, n) => text(ANA, `${at}-${n}`)));
    const { messages } = conversationsOn(run.store);
    const found: string[] = [];
    let pages = 0;
    for (let before: string | undefined; ; pages++) {
      const page = await messages.list({ ...ALL, q: "tienen", ...(before !== undefined && { before }) });
      found.push(...page.messages.map(({ message }) => message));
      if (page.next === null) break;
      before = page.next;
    }
    expect(found).toEqual(["¿Tienen CAFÉ?"]);
    expect(pages).toBe(1);
  });
});

describe("the list of open dialogues", () => {
  it("has those that went on last first, without those that are over, page by page", async () => {
    const run = await startPipeline();
    const put = (scope: string, dialogue: string, at: number, expiresAt: number | null) => ({
      sql: "INSERT INTO bot_dialogues (device_id, scope, bot_id, dialogue, state, expires_at, updated_at) VALUES (?, ?, 'shop', ?, x'', ?, ?)",
      args: [DEVICE, scope, dialogue, expiresAt, at],
    });
    const later = Date.now() + 60_000;
    await run.store.writer.commit([
      put(jid(ANA), "order", 1_000, later),
      put(jid(BEN), "survey", 2_000, null),
      put(`120363000000000001@g.us|${jid(BEN)}`, "vote", 3_000, later),
      put("1@lid", "over", 4_000, 5_000),
    ]);
    const { store, statements } = recordingStore(run.store);
    const { dialogues } = conversationsOn(store);
    const wanted = { deviceId: DEVICE, limit: 2, allowed: null };
    const first = await dialogues.list(wanted);
    expect(first.dialogues).toMatchObject([
      { chat: "120363000000000001@g.us", participant: BEN, bot: "shop", dialogue: "vote", updatedAt: 3_000 },
      { chat: BEN, participant: null, dialogue: "survey", expiresAt: null },
    ]);
    const second = await dialogues.list({ ...wanted, before: first.next! });
    expect(second).toMatchObject({ next: null, dialogues: [{ chat: ANA, dialogue: "order" }] });
    const ofAna = await dialogues.list({ ...wanted, allowed: (names) => names.includes(ANA) });
    expect(ofAna.dialogues.map(({ chat }) => chat)).toEqual([ANA]);
    for (const sql of statements()) expect(await fullScans(run.store, sql)).toEqual([]);
    const plans = await Promise.all(statements().map((sql) => planOf(run.store, sql)));
    expect(plans.flat().join()).toContain("bot_dialogues_listed");
  });
});
