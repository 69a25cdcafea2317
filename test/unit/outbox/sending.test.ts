import { describe, expect, it } from "vitest";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  impatientTime,
  jid,
  reply,
  replyRows,
  rest,
  scriptedLine,
  startRun,
  submitTo,
  textOf,
  until,
} from "./harness.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("order", () => {
  it("is kept in each of 50 chats while every ack takes its own time", async () => {
    const run = await startRun({ env: { PACE_PER_MINUTE: "0" } });
    const underWay = new Map<string, number>();
    let overlapped = 0;
    const line = scriptedLine(async (message) => {
      const before = underWay.get(message.jid) ?? 0;
      if (before > 0) overlapped++;
      underWay.set(message.jid, before + 1);
      await later(Math.random() * 6);
      underWay.set(message.jid, before);
      return { kind: "sent" };
    });
    await run.connect(line);
    const wanted = Array.from({ length: 20 }, (_, turn) => `text ${turn}`);

    for (const [turn, text] of wanted.entries())
      await Promise.all(
        Array.from({ length: 50 }, (_, chat) =>
          reply(run, turn * 50 + chat + 1, jid(4915000 + chat), [text]),
        ),
      );
    await until(() => expect(line.sent).toHaveLength(1000));

    expect(overlapped).toBe(0);
    for (let chat = 0; chat < 50; chat++) expect(line.texts(jid(4915000 + chat))).toEqual(wanted);
  });

  it("is that of the rows, also when who stored them in one commit hears of it the other way round", async () => {
    const run = await startRun();
    const line = scriptedLine();
    await run.connect(line);
    const [first, second] = [
      replyRows(run, 1, jid(4915000), ["one"]),
      replyRows(run, 2, jid(4915000), ["two"]),
    ];

    const results = await Promise.all(
      [first, second].map((rows) => run.store.writer.commit(rows.statements)),
    );
    second.release(results[1]!);
    first.release(results[0]!);

    await until(() => expect(line.texts()).toEqual(["one", "two"]));
  });

  it("lets the next message wait until the outcome of the one before is known", async () => {
    const run = await startRun();
    const acks: (() => void)[] = [];
    const line = scriptedLine(() => new Promise((resolve) => acks.push(() => resolve({ kind: "sent" }))));
    await run.connect(line);
    await reply(run, 1, jid(4915000), ["one", "two"]);
    await rest();
    expect(line.texts()).toEqual(["one"]);

    acks[0]!();

    await until(() => expect(line.texts()).toEqual(["one", "two"]));
  });

  it("is not disturbed by messages that come while one is being sent, nor by a row that is found late", async () => {
    const run = await startRun();
    const acks: (() => void)[] = [];
    const line = scriptedLine(() => new Promise((resolve) => acks.push(() => resolve({ kind: "sent" }))));
    const early = replyRows(run, 1, jid(4915001), ["early"]);
    const stored = await run.store.writer.commit(early.statements);
    await run.connect(null);
    await reply(run, 2, jid(4915001), ["one"]);
    await run.connect(line);
    await until(() => expect(line.texts()).toEqual(["early"]));

    await reply(run, 3, jid(4915001), ["two"]);
    early.release(stored);
    await rest();
    expect(line.texts()).toEqual(["early"]);
    for (let index = 0; index < 3; index++) {
      await until(() => expect(acks.length).toBeGreaterThan(index));
      acks[index]!();
    }

    await until(() => expect(line.texts()).toEqual(["early", "one", "two"]));
  });

  it("keeps what is being sent at the head when a row from before it is found", async () => {
    const run = await startRun();
    const acks: (() => void)[] = [];
    const line = scriptedLine(() => new Promise((resolve) => acks.push(() => resolve({ kind: "sent" }))));
    await run.connect(line);
    const found = replyRows(run, 1, jid(4915001), ["found late"]);
    const stored = await run.store.writer.commit(found.statements);
    await reply(run, 2, jid(4915001), ["one"]);
    await until(() => expect(line.texts()).toEqual(["one"]));

    found.release(stored);
    acks[0]!();

    await until(() => expect(line.texts()).toEqual(["one", "found late"]));
    acks[1]!();
    await rest();
    expect(line.sent).toHaveLength(2);
  });

  it("does not let a chat without acks hold up others", async () => {
    const run = await startRun({ env: { SEND_WAIT_MS: "5000" } });
    const line = scriptedLine((message) => (message.jid === jid(4915000) ? hang() : { kind: "sent" }));
    await run.connect(line);
    await reply(run, 1, jid(4915000), ["stuck", "behind"]);

    const results = await submitTo(run.outbox, [4915001, 4915002], "hello");

    expect(results.map(({ state }) => state)).toEqual(["sent", "sent"]);
    expect(line.texts(jid(4915000))).toEqual(["stuck"]);
  });

  it("sends replies before what answers nobody", async () => {
    const run = await startRun({ env: { SEND_WAIT_MS: "0" } });
    await submitTo(run.outbox, [4915001], "bulk");
    await reply(run, 1, jid(4915002), ["reply"]);
    const line = scriptedLine();

    await run.connect(line);

    await until(() => expect(line.texts()).toEqual(["reply", "bulk"]));
  });

  it("keeps places for replies while many messages that answer nobody wait for acks", async () => {
    const run = await startRun({ env: { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "0" } });
    const line = scriptedLine((message) => (textOf(message) === "bulk" ? hang() : { kind: "sent" }));
    await run.connect(line);
    for (let index = 0; index < 40; index++) await submitTo(run.outbox, [4915100 + index], "bulk");

    await reply(run, 1, jid(4915001), ["reply"]);

    await until(() => expect(line.texts()).toContain("reply"));
  });
});

describe("an uncertain outcome", () => {
  it("is tried again under the same id once the connection is back", async () => {
    const run = await startRun({ env: { SEND_WAIT_MS: "20000" } });
    const broken = scriptedLine(async () => {
      await run.connect(null);
      return { kind: "unknown", reason: "the connection closed" };
    });
    await run.connect(broken);
    const [results] = [submitTo(run.outbox, [4915001], "hello")];
    await until(() => expect(broken.sent).toHaveLength(1));
    const line = scriptedLine();

    await run.connect(line);

    const [result] = await results;
    expect(result).toEqual({ number: "4915001", state: "sent", id: broken.sent[0]!.waId });
    expect(line.sent).toEqual(broken.sent);
  });

  it("does not let the next message of the chat overtake", async () => {
    const run = await startRun();
    let failing = true;
    const line = scriptedLine(() => (failing ? { kind: "unknown", reason: "no ack" } : { kind: "sent" }));
    await run.connect(line);
    await reply(run, 1, jid(4915001), ["one", "two"]);
    await until(() => expect(line.texts()).toEqual(["one"]));
    failing = false;

    await run.outbox.wake(DEVICE);

    await until(() => expect(line.texts()).toEqual(["one", "one", "two"]));
  });

  it("ends with a receipt: what was delivered is not sent again", async () => {
    const run = await startRun();
    const first = scriptedLine(() => ({ kind: "unknown", reason: "no ack" }));
    await run.connect(first);
    const [waId] = await reply(run, 1, jid(4915001), ["one", "two"]);
    await until(() => expect(first.sent).toHaveLength(1));
    await rest();

    run.outbox.receipt(DEVICE, [{ waId: waId!, jid: jid(4915001), state: "delivered", at: 5 }]);
    const line = scriptedLine();
    await run.connect(line);

    await until(() => expect(line.texts()).toEqual(["two"]));
    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, waId!)).toMatchObject({ state: "delivered" }),
    );
  });

  it("does not become a second send when only writing the outcome down fails", async () => {
    let full = false;
    const run = await startRun({
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit: (statements) =>
            full ? Promise.reject(new StorageUnavailable("disk full")) : store.writer.commit(statements),
          soon: (statements) =>
            full ? Promise.reject(new StorageUnavailable("disk full")) : store.writer.soon(statements),
        },
      }),
      time: impatientTime,
    });
    const line = scriptedLine(() => {
      full = true;
      return { kind: "sent" };
    });
    await run.connect(line);
    const [waId] = await reply(run, 1, jid(4915001), ["one"]);
    await until(() => expect(line.sent).toHaveLength(1));
    await rest();
    expect(await run.outbox.find(ACCOUNT, waId!)).toMatchObject({ state: "queued" });

    full = false;

    await until(async () => expect(await run.outbox.find(ACCOUNT, waId!)).toMatchObject({ state: "sent" }));
    expect(line.sent).toHaveLength(1);
  });
});
