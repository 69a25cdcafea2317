import { describe, expect, it } from "vitest";
import type { ChatFilter, ListedChat } from "../../../src/conversations/chats.ts";
import { createMarkRead, messagesRead } from "../../../src/pipeline/read-marks.ts";
import { createChats } from "../../../src/pipeline/chats.ts";
import { watchStatements } from "../store/query-plan.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { DEVICE, jid, scriptedLine, submitTo, until } from "../outbox/harness.ts";
import { echo, startPipeline, text, typed, type PipelineRun } from "../pipeline/harness.ts";
import { conversationsOn, OWN, pair } from "./harness.ts";

const ANA = "4915100000001";
const BEN = "4915100000002";
const GROUP = "120363000000000001@g.us";

const page = (run: PipelineRun, filter: Partial<ChatFilter> = {}) =>
  conversationsOn(run.store, [[GROUP, "Regulars"]]).chats.list({
    devices: OWN,
    limit: 50,
    allowed: null,
    ...filter,
  });
const listed = async (run: PipelineRun, filter: Partial<ChatFilter> = {}): Promise<ListedChat[]> =>
  (await page(run, filter)).chats;
const names = async (run: PipelineRun, filter: Partial<ChatFilter> = {}) =>
  (await listed(run, filter)).map(({ chat }) => chat);

const inGroup = { chat: GROUP, chatKey: GROUP, chatKind: "group" as const };

/** Chats of one millisecond have no order of their own. */
async function aMomentLater(): Promise<void> {
  for (const now = Date.now(); Date.now() === now;) await new Promise((resolve) => setImmediate(resolve));
}

/** Ana writes and is answered, Ben is written to, a group is written in and nobody answers. */
async function aDay(): Promise<PipelineRun> {
  const quiet = {
    ...echo(),
    answer: async (stored: Parameters<ReturnType<typeof echo>["answer"]>[0]) =>
      stored.message.chatKind === "group"
        ? { kind: "pass" as const, trail: [] }
        : echo().answer(stored, undefined as never),
  };
  const run = await startPipeline({ answerers: [quiet] });
  await run.connect(scriptedLine());
  await run.receive(text(ANA, "hello", { pushName: "Ana María" }));
  await until(async () => expect((await listed(run))[0]?.last.direction).toBe("out"));
  await aMomentLater();
  await submitTo(run.outbox, [BEN], "offer");
  await aMomentLater();
  await run.receive(text(BEN, "all together", { ...inGroup, participant: jid(BEN) }));
  await until(async () => expect(await run.undecided()).toBe(0));
  return run;
}

describe("the list of chats", () => {
  it("has each chat once with its last message, newest first", async () => {
    const run = await aDay();

    expect(await listed(run)).toMatchObject([
      {
        chat: GROUP,
        name: "Regulars",
        isGroup: true,
        unanswered: true,
        last: { message: "all together" },
        bot: null,
      },
      {
        chat: BEN,
        name: null,
        isGroup: false,
        unanswered: false,
        last: { message: "offer", direction: "out" },
      },
      { chat: ANA, name: "Ana María", unanswered: false, last: { message: "re: hello" }, bot: "echo" },
    ]);
    expect(await page(run)).toMatchObject({ total: 3, next: null });
  });

  it("gives no chat another's name when a message is deleted while the list is made", async () => {
    const run = await aDay();
    const { read } = run.store;
    const deleting: Store["read"] = async (query, args) => {
      // The group's only message goes between the look for chats and the look at their messages.
      if (query.sql.includes("i.received_at, i.body, d."))
        await run.store.writer.commit([{ sql: "DELETE FROM inbox WHERE chat = ?", args: [GROUP] }]);
      return read(query, args);
    };

    const { chats } = await conversationsOn({ ...run.store, read: deleting }, [
      [GROUP, "Regulars"],
    ]).chats.list({
      devices: OWN,
      limit: 50,
      allowed: null,
    });

    expect(chats).toMatchObject([
      { chat: BEN, name: null, bot: null },
      { chat: ANA, name: "Ana María", bot: "echo" },
    ]);
  });

  it("is searched by name and by digits, and has only what may be seen", async () => {
    const run = await aDay();

    expect(await names(run, { q: "maría" })).toEqual([ANA]);
    expect(await names(run, { q: "regul" })).toEqual([GROUP]);
    expect(await names(run, { q: "+49 151 0000 0002" })).toEqual([BEN]);
    expect(await names(run, { allowed: ([chat]) => chat === BEN })).toEqual([BEN]);
  });

  it("is one chat alone, or those that nobody has answered", async () => {
    const run = await aDay();

    expect(await names(run, { chat: jid(ANA) })).toEqual([ANA]);
    expect(await names(run, { chat: GROUP })).toEqual([GROUP]);
    expect(await names(run, { unanswered: true })).toEqual([GROUP]);
    expect(await names(run, { unanswered: false })).toEqual([BEN, ANA]);
  });

  it("has a person who became known by number once, under the number", async () => {
    const run = await startPipeline({ answerers: [] });
    const hidden = { chat: "77@lid", chatKey: "77@lid", sender: "77@lid", number: null, lid: "77@lid" };
    await run.receive(text(ANA, "hidden", { ...hidden, pushName: "Ana" }));
    expect(await names(run)).toEqual(["77@lid"]);
    await run.store.writer.commit([pair("77", ANA)]);
    expect(await names(run)).toEqual([ANA]);
    await run.receive(text(ANA, "known"));

    expect(await listed(run)).toMatchObject([{ chat: ANA, last: { message: "known" } }]);
  });

  it("has every chat on some page, once", async () => {
    const run = await startPipeline({ answerers: [] });
    const messages = Array.from({ length: 90 }, (_, index) =>
      text(4915100000100 + (index % 23), `m${index}`),
    );
    await run.receive(...messages);
    const found: string[] = [];
    for (let before: string | undefined; ;) {
      const { chats, next } = await page(run, { limit: 5, before });
      found.push(...chats.map(({ chat }) => chat));
      if (next === null) break;
      before = next;
    }

    expect(found).toHaveLength(23);
    expect(new Set(found).size).toBe(23);
  });

  it("reads the contents of what came once, however a page is searched and shown", async () => {
    const run = await aDay();
    const { store, seen } = watchStatements(run.store);
    const { chats } = await conversationsOn(store).chats.list({
      devices: OWN,
      limit: 50,
      q: "a",
      allowed: null,
    });

    expect(chats.length).toBeGreaterThan(0);
    expect(seen.filter(({ sql }) => /i\.body FROM json_each/.test(sql))).toHaveLength(1);
  });

  it("looks at each message once, and of a chat that is not sought only at what it is called", async () => {
    const run = await startPipeline();
    await run.connect(scriptedLine());
    await run.receive(...Array.from({ length: 120 }, (_, index) => text(4915100000100 + index, "hello")));
    await until(async () => expect(await run.undecided()).toBe(0));
    const looked = { messages: 0, newest: [] as string[] };
    const store: Store = {
      ...run.store,
      async read(query, args) {
        const rows = await run.store.read(query, args);
        if (/ AS state\b|, o\.state\b/.test(query.sql)) looked.messages += rows.length;
        if (/WHERE [io]\.id =\s+\(/.test(query.sql)) looked.newest.push(query.sql);
        return rows;
      },
    };
    const { chats } = await conversationsOn(store).chats.list({
      devices: OWN,
      limit: 10,
      q: "nobody",
      allowed: null,
    });

    expect(chats).toEqual([]);
    // As far as a page looks, each once.
    expect(looked.messages).toBe(220);
    for (const sql of looked.newest) expect(sql).toContain("i.body");
  });

  it("is read by index alone", async () => {
    const run = await aDay();
    const { store, statements } = recordingStore(run.store);
    await conversationsOn(store).chats.list({ devices: OWN, limit: 50, q: "a", allowed: () => true });

    expect(statements().length).toBeGreaterThan(8);
    for (const sql of statements()) expect(await fullScans(run.store, sql)).toEqual([]);
    const marks = [messagesRead(DEVICE, jid(ANA), ["3A1"]).sql];
    const commit: Store["writer"]["commit"] = async (all) => {
      marks.push(...all.map(({ sql }) => sql));
      return [];
    };
    await createMarkRead({ writer: { ...run.store.writer, commit } })(DEVICE, [jid(ANA)]);
    // Of what was found one row is made.
    for (const sql of marks) {
      const scans = await fullScans(run.store, sql);
      expect(scans.filter((step) => !/subquery/.test(step))).toEqual([]);
    }
  });
});

describe("a chat that a person takes over", () => {
  it("gets no answers of bots until then, or until it is handed back", async () => {
    const run = await startPipeline();
    await run.connect(scriptedLine());
    const replies = async (): Promise<number> =>
      (
        await conversationsOn(run.store).messages.list({
          devices: OWN,
          limit: 50,
          allowed: null,
          state: "sent",
        })
      ).messages.length;
    await run.receive(text(ANA, "one"));
    await until(async () => expect(await replies()).toBe(1));

    const until1 = await run.path.takeOver(DEVICE, [jid(ANA)], 60_000);
    expect(until1).toBeGreaterThan(Date.now());
    expect(await listed(run)).toMatchObject([{ takenOverUntil: until1 }]);
    await run.receive(text(ANA, "two"), text(BEN, "other"));
    await until(async () => expect(await run.undecided()).toBe(0));
    await until(async () => expect(await replies()).toBe(2));

    expect(await run.path.takeOver(DEVICE, [jid(ANA)], 0)).toBeNull();
    await run.receive(text(ANA, "three"));
    await until(async () => expect(await replies()).toBe(3));
    expect((await listed(run, { q: ANA }))[0]).toMatchObject({ takenOverUntil: null });
  });

  it("is known after a start, a shorter time takes the place of a longer one, and the owner's own writing goes on", async () => {
    const run = await startPipeline();
    await run.path.takeOver(DEVICE, [jid(ANA)], 600_000);
    const short = await run.path.takeOver(DEVICE, [jid(ANA)], 60_000);

    expect((await createChats(run.store).load(DEVICE, jid(ANA))).takeoverUntil).toBe(short);
    await run.receive(typed(ANA, "by hand"));
    await until(async () => expect(await run.undecided()).toBe(0));
    expect((await createChats(run.store).load(DEVICE, jid(ANA))).takeoverUntil).toBeGreaterThan(short!);
  });
});
