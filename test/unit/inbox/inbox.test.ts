import { describe, expect, it } from "vitest";
import { createInbox } from "../../../src/inbox/inbox.ts";
import { DEVICE, jid, OWN_NUMBER, startRun } from "../outbox/harness.ts";
import { text } from "../pipeline/harness.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, planOf, recordingStore } from "../../_setup/query-plan.ts";
import { record } from "../../_setup/record.ts";
import { rawRows } from "../store/rows.ts";

async function startInbox() {
  const { store } = await startRun();
  await addDevice(store, DEVICE + 1);
  return { store, inbox: createInbox(store) };
}

const addDevice = (store: Store, id: number) =>
  store.writer.commit([
    {
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'a', ?, 'connected', 0, 0)",
      args: [id, String(id)],
    },
  ]);
const removeDevice = (store: Store, id: number) =>
  store.writer.commit([{ sql: "DELETE FROM devices WHERE id = ?", args: [id] }]);

describe("the inbox", () => {
  it("takes nothing for a number that was erased: nobody would ever delete it", async () => {
    const { store, inbox } = await startInbox();
    await removeDevice(store, DEVICE + 1);
    expect(await record(store, inbox, DEVICE + 1, [text(4915001, "too late")])).toEqual([]);
    expect(await rawRows(store, "SELECT id FROM inbox", [])).toEqual([]);
  });

  it("looks everything up by an index, however many messages a chat has", async () => {
    const { store: real } = await startInbox();
    const { store, statements } = recordingStore(real);
    const inbox = createInbox(store);
    const [first] = await record(store, inbox, DEVICE, [text(4915001, "hello")]);
    await inbox.find(DEVICE, jid(4915001), "NOBODY KNOWS");
    await inbox.load(first!.inboxId);
    await inbox.pending(DEVICE);
    await store.writer.commit([inbox.done(first!.inboxId)]);

    for (const sql of statements()) {
      expect(await fullScans(store, sql), sql).toEqual([]);
      // A chat of a hundred thousand messages is as bad as a table of them.
      expect((await planOf(store, sql)).join(), sql).not.toMatch(
        /inbox_message \(device_id=\?( AND chat=\?)?\)/,
      );
    }
  });

  it("gives back only what is new, in the order in which it was handed in", async () => {
    const { store, inbox } = await startInbox();
    const [one, two, three] = ["one", "two", "three"].map((words) => text(4915001, words));
    await record(store, inbox, DEVICE, [two!]);

    const fresh = await record(store, inbox, DEVICE, [three!, two!, one!]);

    expect(fresh.map(({ message }) => message.text)).toEqual(["three", "one"]);
    expect(fresh[0]!.inboxId).toBeLessThan(fresh[1]!.inboxId);
  });

  it("takes the same id in another chat, from another writer or of another number for another message", async () => {
    const { store, inbox } = await startInbox();
    const message = text(4915001, "hello");
    const variants = [
      message,
      { ...message, chat: "1203@g.us", chatKey: "1203@g.us" },
      { ...message, sender: jid(4915002) },
    ];

    expect(await record(store, inbox, DEVICE, variants)).toHaveLength(3);
    expect(await record(store, inbox, DEVICE + 1, variants)).toHaveLength(3);
  });

  it("knows a message again whose writer was known by the LID alone when it first came", async () => {
    const { store, inbox } = await startInbox();
    const number = jid(4915001);
    const lid = "70000000000001@lid";
    const hidden = text(4915001, "hello", { chat: lid, chatKey: lid, sender: lid, number: null, lid });
    const known = { ...hidden, chatKey: number, sender: number, number: "4915001" };
    const inGroup = { ...hidden, id: "G", chat: "1203@g.us", chatKey: "1203@g.us", participant: lid };
    const knownInGroup = { ...inGroup, sender: number, number: "4915001" };

    expect(await record(store, inbox, DEVICE, [hidden, inGroup])).toHaveLength(2);
    expect(await record(store, inbox, DEVICE, [known, knownInGroup])).toEqual([]);
    expect(await record(store, inbox, DEVICE, [{ ...known, id: "N" }, known])).toHaveLength(1);
    expect(await record(store, inbox, DEVICE + 1, [known])).toHaveLength(1);
  });

  it("knows what the owner wrote again when the other side's number became known meanwhile", async () => {
    const { store, inbox } = await startInbox();
    const lid = "70000000000001@lid";
    const own = { fromMe: true, sender: jid(OWN_NUMBER), number: OWN_NUMBER, lid: "70000000000009@lid" };
    const early = text(4915001, "from the phone", { ...own, chat: lid, chatKey: lid });
    await record(store, inbox, DEVICE, [early]);
    await store.writer.commit([
      {
        sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, '70000000000001', '4915001', 0)",
        args: [DEVICE],
      },
    ]);

    expect(await record(store, inbox, DEVICE, [{ ...early, chatKey: jid(4915001) }])).toEqual([]);
    const byNumber = { ...early, chat: jid(4915001), chatKey: jid(4915001) };
    expect(await record(store, inbox, DEVICE, [byNumber])).toEqual([]);
  });

  it.each(["70000000000001", "70000000000002"])(
    "knows a message again that first came under one of its writer's two LIDs (%s)",
    async (lidUser) => {
      const { store, inbox } = await startInbox();
      const lid = `${lidUser}@lid`;
      const hidden = text(4915001, "hello", { chat: lid, chatKey: lid, sender: lid, number: null, lid });
      await record(store, inbox, DEVICE, [hidden]);
      await store.writer.commit(
        ["70000000000001", "70000000000002"].map((user) => ({
          sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, ?, '4915001', 0)",
          args: [DEVICE, user],
        })),
      );

      const number = jid(4915001);
      const byNumber = {
        ...hidden,
        chat: number,
        chatKey: number,
        sender: number,
        number: "4915001",
        lid: null,
      };
      expect(await record(store, inbox, DEVICE, [byNumber])).toEqual([]);
    },
  );

  it("lists what has no decision, oldest first, and reads it back as it was", async () => {
    const { store, inbox } = await startInbox();
    const message = text(4915001, "a secret text", { quoted: { id: "Q", from: jid(1), text: "earlier" } });
    const [first, second] = await record(store, inbox, DEVICE, [message, text(4915002, "two")]);
    await record(store, inbox, DEVICE + 1, [text(4915003, "of a number that is gone")]);
    await removeDevice(store, DEVICE + 1);
    await store.writer.commit([inbox.done(second!.inboxId)]);

    const { messages, upTo } = await inbox.pending(DEVICE);

    expect(messages).toEqual([
      { inboxId: first!.inboxId, deviceId: DEVICE, ownNumber: OWN_NUMBER, chatKey: jid(4915001) },
    ]);
    expect(upTo).toBe(second!.inboxId + 1);
    expect(await inbox.load(first!.inboxId)).toEqual(message);
    expect(await inbox.load(99)).toBeNull();
  });

  it("keeps contents sealed, each bound to its message", async () => {
    const { store, inbox } = await startInbox();
    await record(store, inbox, DEVICE, [text(4915001, "a secret text"), text(4915001, "another")]);
    const rows = await rawRows(store, "SELECT id, body FROM inbox ORDER BY id", []);
    expect(Buffer.from(rows[0]!.body as ArrayBuffer).includes("secret")).toBe(false);

    await store.writer.commit([
      {
        sql: "UPDATE inbox SET body = ? WHERE id = ?",
        args: [new Uint8Array(rows[0]!.body as ArrayBuffer), Number(rows[1]!.id)],
      },
    ]);

    await expect(inbox.load(Number(rows[1]!.id))).rejects.toThrow("does not open");
  });

  it("finds what a quote takes in that chat alone", async () => {
    const { store, inbox } = await startInbox();
    const message = text(4915001, "hello", { raw: "cmF3" });
    await record(store, inbox, DEVICE, [message]);

    expect(await inbox.findQuote(DEVICE, jid(4915001), message.id)).toEqual({
      id: message.id,
      sender: jid(4915001),
      fromMe: false,
      raw: "cmF3",
    });
    expect(await inbox.findQuote(DEVICE, jid(4915002), message.id)).toBeNull();
  });
});
