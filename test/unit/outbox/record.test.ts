import { describe, expect, it } from "vitest";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { MessageReceipt } from "../../../src/whatsapp/port.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  jid,
  manualClock,
  reply,
  scriptedLine,
  startRun,
  submitTo,
  until,
} from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const receipt = (waId: string, state: MessageReceipt["state"], at: number): MessageReceipt => ({
  waId,
  jid: jid(4915001),
  state,
  at,
});

describe("the record of a sent message", () => {
  it("goes through its states once each and never backwards", async () => {
    const run = await startRun();
    await run.connect(scriptedLine());
    const [result] = await submitTo(run.outbox, [4915001], "hello");
    const id = result!.id!;

    run.outbox.receipt(DEVICE, [receipt(id, "read", 3_000_000_000_000)]);
    run.outbox.receipt(DEVICE, [receipt(id, "delivered", 3_000_000_000_001)]);
    run.outbox.receipt(DEVICE, [receipt(id, "read", 3_000_000_000_002)]);
    run.outbox.receipt(DEVICE, [receipt(id, "played", 3_000_000_000_003)]);
    await run.outbox.drain();

    const record = await run.outbox.find(ACCOUNT, id);
    expect(record).toMatchObject({
      id,
      sender: "491700000001",
      number: "4915001",
      kind: "text",
      state: "played",
    });
    expect(record?.history.map(({ state }) => state)).toEqual(["queued", "sent", "read", "played"]);
    expect(record?.history.at(-2)?.at).toBe(3_000_000_000_000);
  });

  it("keeps a failure whatever comes later", async () => {
    const run = await startRun();
    await run.connect(scriptedLine(() => ({ kind: "refused", code: 406, reason: "406" })));
    const [result] = await submitTo(run.outbox, [4915001], "hello");

    run.outbox.receipt(DEVICE, [receipt(result!.id!, "delivered", 1)]);
    await run.outbox.drain();

    expect(await run.outbox.find(ACCOUNT, result!.id!)).toMatchObject({
      state: "failed",
      error: { code: "WHATSAPP_REFUSED", whatsapp_code: 406 },
    });
  });

  it("commits receipts of many messages together", async () => {
    let commits = 0;
    const run = await startRun({
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit: (statements) => (commits++, store.writer.commit(statements)),
          soon: (statements) => (commits++, store.writer.soon(statements)),
        },
      }),
    });
    await run.connect(scriptedLine());
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => 4915000 + index);
    const results = await submitTo(run.outbox, numbers, "hello");
    commits = 0;

    for (const { id } of results) run.outbox.receipt(DEVICE, [receipt(id!, "delivered", 1)]);
    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, results[7]!.id!)).toMatchObject({ state: "delivered" }),
    );

    expect(commits).toBe(1);
  });

  it("takes the receipts of others although one cannot be stored", async () => {
    const run = await startRun();
    await run.connect(scriptedLine());
    const [one, two, three] = await submitTo(run.outbox, [4915001, 4915002, 4915003], "hello");

    run.outbox.receipt(DEVICE, [receipt(one!.id!, "delivered", 1)]);
    run.outbox.receipt(DEVICE, [receipt(two!.id!, "delivered", Number.NaN)]);
    run.outbox.receipt(DEVICE, [receipt(three!.id!, "delivered", 1)]);
    await run.outbox.drain();

    expect(await run.outbox.find(ACCOUNT, one!.id!)).toMatchObject({ state: "delivered" });
    expect(await run.outbox.find(ACCOUNT, three!.id!)).toMatchObject({ state: "delivered" });
  });

  it("of version 0.1 keeps its times, and new ones are added", async () => {
    const run = await startRun();
    await run.connect(scriptedLine());
    const [result] = await submitTo(run.outbox, [4915001], "hello");
    const at = Date.now() + 1_000;
    // As it stands in a folder of 0.1 after the migration.
    await run.store.writer.commit([
      { sql: "UPDATE outbox SET state = 'delivered', sent_at = NULL", args: [] },
      {
        sql: 'INSERT INTO outbox_history SELECT o.id, value, ? FROM outbox o, json_each(\'["sent", "delivered"]\')',
        args: [at],
      },
    ]);

    run.outbox.receipt(DEVICE, [receipt(result!.id!, "read", at - 500)]);
    await run.outbox.drain();

    const record = await run.outbox.find(ACCOUNT, result!.id!);
    expect(record?.history.slice(1)).toEqual([
      { state: "sent", at },
      { state: "delivered", at },
      { state: "read", at },
    ]);
  });

  it("says that a reply was sent a tenth of a second after WhatsApp took it, in one commit with its receipt", async () => {
    const clock = manualClock();
    let statements = 0;
    const run = await startRun({
      clock,
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit: (given) => ((statements += given.length), store.writer.commit(given)),
          soon: (given) => ((statements += given.length), store.writer.soon(given)),
        },
      }),
    });
    const line = scriptedLine();
    await run.connect(line);
    const [id] = await reply(run, 1, jid(4915001), ["one"]);
    await clock.advance(0);
    expect(line.sent).toHaveLength(1);
    statements = 0;

    run.outbox.receipt(DEVICE, [receipt(id!, "delivered", clock.now() + 5)]);
    await clock.advance(200);

    expect(statements).toBe(1);
    const record = await run.outbox.find(ACCOUNT, id!);
    expect(record?.history.map(({ state }) => state)).toEqual(["queued", "sent", "delivered"]);
  });

  it("that is not stored yet is not taken for one that waits", async () => {
    const clock = manualClock();
    let away = false;
    const run = await startRun({
      clock,
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit: (given) =>
            away ? Promise.reject(new StorageUnavailable("away")) : store.writer.commit(given),
          soon: (given) => (away ? Promise.reject(new StorageUnavailable("away")) : store.writer.soon(given)),
        },
      }),
    });
    const line = scriptedLine();
    await run.connect(line);
    const [id] = await reply(run, 1, jid(4915001), ["one"]);
    await clock.advance(0);
    away = true;

    await run.connect(line);
    await clock.advance(60_000);
    expect(line.sent).toHaveLength(1);
    away = false;
    await clock.advance(60_000);

    expect(line.sent).toHaveLength(1);
    expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({ state: "sent" });
  });

  it("has a receipt when that is stored, which is when WhatsApp is told so; what cannot be waits for the storage", async () => {
    const clock = manualClock();
    let away = false;
    const run = await startRun({
      clock,
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          soon: (given) => (away ? Promise.reject(new StorageUnavailable("away")) : store.writer.soon(given)),
          commit: (given) =>
            away ? Promise.reject(new StorageUnavailable("away")) : store.writer.commit(given),
        },
      }),
    });
    await run.connect(scriptedLine());
    const [id] = await reply(run, 1, jid(4915001), ["one"]);
    await clock.advance(200);
    away = true;
    const stored: string[] = [];
    void run.outbox.receipt(DEVICE, [receipt(id!, "delivered", 1)]).then(() => stored.push("delivered"));
    await clock.advance(200);
    // The same again, and what nobody knows here.
    void run.outbox.receipt(DEVICE, [receipt(id!, "delivered", 1)]).then(() => stored.push("once more"));
    void run.outbox.receipt(DEVICE, [receipt("3EB0UNKNOWN", "read", 1)]).then(() => stored.push("unknown"));
    await clock.advance(60_000);
    expect(stored).toEqual([]);
    expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({ state: "sent" });

    away = false;
    await clock.advance(60_000);
    expect(stored.toSorted()).toEqual(["delivered", "once more", "unknown"]);
    expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({ state: "delivered" });
  });

  it("is nobody else's", async () => {
    const run = await startRun();
    await run.connect(scriptedLine());
    const [result] = await submitTo(run.outbox, [4915001], "hello");

    expect(await run.outbox.find("another account", result!.id!)).toBeNull();
    expect(await run.outbox.find(ACCOUNT, "3EB0UNKNOWN")).toBeNull();
  });

  it("gives the content for phones that could not decrypt it, and keeps it sealed", async () => {
    const run = await startRun();
    await run.connect(scriptedLine());
    const [waId] = await reply(run, 1, jid(4915001), ["a secret text"]);

    expect(await run.outbox.sentContent(DEVICE, waId!)).toEqual({ kind: "text", text: "a secret text" });
    expect(await run.outbox.sentContent(DEVICE + 1, waId!)).toBeNull();
    const [row] = await rawRows(run.store, "SELECT body FROM outbox", []);
    expect(Buffer.from(row!.body as ArrayBuffer).includes("a secret text")).toBe(false);
  });
});

describe("a number that is linked no more", () => {
  it("fails what waits, and what was under way is not sent when it is linked again", async () => {
    const run = await startRun();
    const ends: (() => void)[] = [];
    const line = scriptedLine(
      () => new Promise((resolve) => ends.push(() => resolve({ kind: "unknown", reason: "closed" }))),
    );
    await run.connect(line);
    const [first, second] = await reply(run, 1, jid(4915001), ["under way", "waiting"]);
    await until(() => expect(line.sent).toHaveLength(1));

    await run.outbox.abandon(DEVICE);
    await run.connect(null);
    ends[0]!();
    const next = scriptedLine();
    await run.connect(next);
    await reply(run, 2, jid(4915001), ["new"]);

    await until(() => expect(next.texts()).toEqual(["new"]));
    for (const id of [first, second])
      expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({
        state: "failed",
        error: { code: "SENDER_NOT_CONNECTED" },
      });
  });

  it("fails what waited when the gateway starts", async () => {
    const run = await startRun({ opens: false });
    const [waId] = await reply(run, 1, jid(4915001), ["late"]);
    await run.store.writer.commit([{ sql: "UPDATE devices SET state = 'logged_out'", args: [] }]);

    await run.outbox.start();
    await run.outbox.open(DEVICE);

    expect(await run.outbox.find(ACCOUNT, waId!)).toMatchObject({ state: "failed" });
  });

  it("leaves nothing behind when it is erased", async () => {
    const run = await startRun();
    const results = submitTo(run.outbox, [4915001], "hello");
    const line = scriptedLine(hang);
    await until(async () => expect(await rawRows(run.store, "SELECT id FROM outbox", [])).toHaveLength(1));

    run.outbox.forget(DEVICE);
    await run.store.writer.commit([{ sql: "DELETE FROM outbox", args: [] }]);
    await run.connect(line);

    expect(await results).toMatchObject([{ state: "failed" }]);
    expect(line.sent).toEqual([]);
  });
});
