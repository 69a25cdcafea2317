import { describe, expect, it } from "vitest";
import { createInbox } from "../../../src/inbox/inbox.ts";
import { isImported, type Incoming } from "../../../src/model/messages.ts";
import { createRetention } from "../../../src/retention/retention.ts";
import type { Store } from "../../../src/store/store.ts";
import { createHourBook } from "../../../src/audit/hours.ts";
import { conversationsOn, ALL, OWN, pair } from "../conversations/harness.ts";
import { DEVICE, jid, startRun } from "../outbox/harness.ts";
import { text, typed } from "../pipeline/harness.ts";
import { rawRows } from "../store/rows.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";
import { fullScans, planOf, recordingStore } from "../../_setup/query-plan.ts";
import { record } from "../../_setup/record.ts";

const ANA = 4915001;
const SECOND = Math.floor(Date.now() / 1000);
const DAY = 86_400;

async function start() {
  const { store } = await startRun();
  const inbox = createInbox(store, undefined, true);
  const list = async () => (await conversationsOn(store).messages.list(ALL)).messages;
  const shown = async () => (await list()).map(({ id, imported = false }) => [id, imported]);
  return { store, inbox, list, shown };
}

const long = (id: string, ago: number, more: Partial<Incoming> = {}): Incoming =>
  text(ANA, id, { id, timestamp: SECOND - ago, ...more });

const idsIn = async (store: Store): Promise<number[]> =>
  (await rawRows(store, "SELECT id FROM inbox ORDER BY id")).map(({ id }) => Number(id));

describe("messages of the time before", () => {
  it("are listed by when they were written, with those that arrived, wait for nothing and are news to nobody", async () => {
    const { store, inbox, list } = await start();
    const [arrived] = await record(store, inbox, DEVICE, [long("now", 0)]);
    await inbox.importMessages(DEVICE, [
      long("second", 60),
      typed(ANA, "third", { id: "third", timestamp: SECOND - 50 }),
    ]);
    await inbox.importMessages(DEVICE, [long("first", DAY)]);
    await inbox.importMessages(DEVICE, [long("same second", 60)]);

    expect((await list()).map(({ id, direction, at, imported }) => [id, direction, imported, at])).toEqual([
      ["now", "in", undefined, expect.any(Number)],
      ["third", "out", true, (SECOND - 50) * 1000],
      ["same second", "in", true, (SECOND - 60) * 1000],
      ["second", "in", true, (SECOND - 60) * 1000],
      ["first", "in", true, (SECOND - DAY) * 1000],
    ]);
    const { messages } = await inbox.pending(DEVICE);
    expect(messages.map(({ inboxId }) => inboxId)).toEqual([arrived!.inboxId]);
    const { chats } = await conversationsOn(store).chats.list({ devices: OWN, limit: 10, allowed: null });
    expect(chats).toMatchObject([{ unread: 1, unanswered: true, last: { id: "now" } }]);
    expect(await conversationsOn(store).unread(DEVICE, [jid(ANA)])).toMatchObject([{ id: "now" }]);
    expect(await createHourBook(store).countSince(DEVICE, 0)).toMatchObject({ received: 1 });
    expect((await idsIn(store)).filter(isImported)).toHaveLength(4);
  });

  it("leave a chat without anything to answer", async () => {
    const { store, inbox } = await start();
    await inbox.importMessages(DEVICE, [long("old", 60)]);
    const { chats } = conversationsOn(store);
    const listed = async (unanswered?: boolean) =>
      (
        await chats.list({
          devices: OWN,
          limit: 10,
          allowed: null,
          ...(unanswered !== undefined && { unanswered }),
        })
      ).chats;
    expect(await listed()).toMatchObject([{ unread: 0, unanswered: false, last: { imported: true } }]);
    expect(await listed(true)).toEqual([]);
    expect(await listed(false)).toHaveLength(1);
  });

  it("are there once, and change nothing that is there: what arrived, what was imported, what was sent from here", async () => {
    const { store, inbox, list, shown } = await start();
    // By the LID, as long as the pair was not known.
    const byLid = { chat: "900@lid", chatKey: "900@lid", sender: "900@lid", lid: "900@lid" };
    await record(store, inbox, DEVICE, [long("arrived", 5, { text: "as it came", ...byLid })]);
    await store.writer.commit([pair("900", String(ANA))]);
    await store.writer.commit([
      {
        sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, state, body, created_at)
          VALUES (?, 'sent', ?, ?, ?, 'text', 'api', 0, 'sent', ?, ?)`,
        args: [DEVICE, jid(ANA), jid(ANA), String(ANA), Buffer.from("sealed"), SECOND * 1000],
      },
    ]);
    const again = [
      long("arrived", 5, { text: "told again" }),
      typed(ANA, "sent", { id: "sent", timestamp: SECOND - 5 }),
      long("old", 60),
    ];
    await inbox.importMessages(DEVICE, again);
    await inbox.importMessages(DEVICE, again);

    expect(await shown()).toEqual(
      expect.arrayContaining([
        ["arrived", false],
        ["sent", false],
        ["old", true],
      ]),
    );
    expect(await list()).toHaveLength(3);
    expect(await idsIn(store)).toHaveLength(2);
    expect((await list()).find(({ id }) => id === "arrived")?.message).toBe("as it came");
  });

  it("make room for what arrives after all, which is answered as everything that arrives", async () => {
    const { store, inbox, shown } = await start();
    await store.writer.commit([pair("900", String(ANA))]);
    const byLid = { chat: "900@lid", chatKey: "900@lid", sender: "900@lid", lid: "900@lid" };
    await inbox.importMessages(DEVICE, [long("one", 5, byLid), long("two", 5), long("three", 5)]);
    const fresh = await record(store, inbox, DEVICE, [long("one", 5), long("two", 5)]);

    expect(fresh.map(({ inboxId }) => isImported(inboxId))).toEqual([false, false]);
    expect((await inbox.pending(DEVICE)).messages).toHaveLength(2);
    expect((await shown()).toSorted()).toEqual([
      ["one", false],
      ["three", true],
      ["two", false],
    ]);
    // Once more, as after a crash.
    expect(await record(store, inbox, DEVICE, [long("one", 5)])).toEqual([]);
  });

  it("go with their age, whatever stands before and behind them", async () => {
    const { store, inbox } = await start();
    const young = Array.from({ length: 300 }, (_, n) => long(`young ${n}`, 5 * DAY + n));
    await inbox.importMessages(DEVICE, [...young, long("old", 40 * DAY), long("older", 80 * DAY)]);
    await record(store, inbox, DEVICE, [long("answered long ago", 50 * DAY)]);
    await store.writer.commit([
      {
        sql: "UPDATE inbox SET state = 'done', received_at = ? WHERE id > 0",
        args: [(SECOND - 50 * DAY) * 1000],
      },
    ]);
    const dataDir = temporaryFolder();
    const retention = createRetention({
      store,
      config: { retentionDays: 30, dataDir },
      log: silentLog(configFor(dataDir)),
      sentContent: async () => null,
    });
    await retention.run();
    await retention.stop();

    const left = (await rawRows(store, "SELECT wa_id FROM inbox")).map(({ wa_id: id }) => String(id));
    expect(left.filter((id) => !id.startsWith("young"))).toEqual([]);
    expect(left).toHaveLength(300);
  });

  it("are stored by indexes alone", async () => {
    const { store: real } = await start();
    const { store, statements } = recordingStore(real);
    const inbox = createInbox(store, undefined, true);
    await inbox.importMessages(DEVICE, [long("old", 60)]);
    await record(store, inbox, DEVICE, [long("old", 60)]);
    for (const sql of statements()) {
      expect(await fullScans(store, sql), sql).toEqual([]);
      expect((await planOf(store, sql)).join(), sql).not.toMatch(
        /inbox_message \(device_id=\?( AND chat=\?)?\)/,
      );
    }
  });

  it("are paged through to the last, by `next` and by time", async () => {
    const { store, inbox } = await start();
    await inbox.importMessages(
      DEVICE,
      Array.from({ length: 5 }, (_, n) => long(`m${n}`, 60)),
    );
    const { messages } = conversationsOn(store);
    const ids: string[] = [];
    let before: string | undefined;
    do {
      const page = await messages.list({ ...ALL, limit: 2, ...(before !== undefined && { before }) });
      ids.push(...page.messages.map(({ id }) => id));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(ids).toEqual(["m4", "m3", "m2", "m1", "m0"]);
    const at = (SECOND - 60) * 1000;
    const older = await messages.list({ ...ALL, before: new Date(at).toISOString() });
    expect(older.messages).toEqual([]);
    expect((await messages.list({ ...ALL, until: at - 1 })).messages).toEqual([]);
    expect((await messages.list({ ...ALL, until: at })).messages).toHaveLength(5);
  });
});
