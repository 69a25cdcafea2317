import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createIdempotency } from "../../../src/outbox/submitting/idempotency.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import { silentLog, begunFolder } from "../store/temporary.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  jid,
  manualClock,
  OWN_NUMBER,
  reply,
  rest,
  scriptedLine,
  startRun,
  submitTo,
  until,
} from "./harness.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { text } from "../pipeline/harness.ts";
import { rawRows } from "../store/rows.ts";

describe("a send by REST", () => {
  it("answers with the outcome of each destination, in their order", async () => {
    const run = await startRun({
      parts: {
        directory: {
          refusal: async (_device, address) =>
            address.endsWith("@g.us") ? { code: "CANNOT_SEND", reason: "only_admins" } : null,
        },
      },
    });
    await run.connect(
      scriptedLine((message) =>
        message.jid === jid(4915002) ? { kind: "refused", code: 406, reason: "406" } : { kind: "sent" },
      ),
    );
    const destinations = [
      { number: "1203@g.us", jid: "1203@g.us" },
      { number: "4915002", jid: jid(4915002) },
      { number: "4915003", jid: jid(4915003) },
    ];

    const results = await run.outbox.submit({
      deviceId: DEVICE,
      destinations,
      draft: { kind: "text", text: "hello" },
    });

    expect(results).toEqual([
      {
        number: "1203@g.us",
        state: "failed",
        id: null,
        error: { code: "CANNOT_SEND", reason: "only_admins" },
      },
      {
        number: "4915002",
        state: "failed",
        id: expect.stringMatching(/^3EB0[0-9A-F]{18}$/),
        error: { code: "WHATSAPP_REFUSED", message: "406", whatsapp_code: 406 },
      },
      { number: "4915003", state: "sent", id: expect.stringMatching(/^3EB0[0-9A-F]{18}$/) },
    ]);
  });

  it("waits no longer than SEND_WAIT_MS and says that the rest is queued", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "15000" } });
    await run.connect(scriptedLine((message) => (message.jid === jid(4915001) ? hang() : { kind: "sent" })));
    let results: unknown = null;
    const waiting = submitTo(run.outbox, [4915001, 4915002], "hello").then((all) => (results = all));

    await clock.advance(14_999);
    expect(results).toBeNull();
    await clock.advance(1);
    await waiting;

    expect(results).toMatchObject([{ state: "queued" }, { state: "sent" }]);
  });

  it("is queued while a linked number is offline, and sent when it is back", async () => {
    const run = await startRun({ env: { SEND_WAIT_MS: "0" } });
    const [result] = await submitTo(run.outbox, [4915001], "hello");
    expect(result).toMatchObject({ state: "queued" });
    const line = scriptedLine();

    await run.connect(line);

    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, result!.id!)).toMatchObject({ state: "sent" }),
    );
    expect(line.sent).toMatchObject([{ waId: result!.id }]);
  });

  it("is refused, and nothing stored, when the number is not linked", async () => {
    const run = await startRun();
    run.setLinked(false);

    await expect(submitTo(run.outbox, [4915001], "hello")).rejects.toMatchObject({
      code: "SENDER_NOT_CONNECTED",
    });

    expect(await rawRows(run.store, "SELECT id FROM outbox", [])).toEqual([]);
  });

  it("quotes a message that is known in that chat, and sends without a quote where it is not", async () => {
    const quote = { id: "ABC", sender: jid(4915001), fromMe: false, raw: "cmF3" };
    const run = await startRun();
    const known = text(4915001, "known", { id: quote.id, raw: quote.raw });
    await commitIntake(run.store.writer, run.path.receive(DEVICE, OWN_NUMBER, [known]));
    const line = scriptedLine();
    await run.connect(line);

    await run.outbox.submit({
      deviceId: DEVICE,
      destinations: [4915001, 4915002].map((number) => ({ number: String(number), jid: jid(number) })),
      draft: { kind: "text", text: "hello" },
      quoteId: "ABC",
    });

    expect(line.sent.find((message) => message.jid === jid(4915001))?.draft).toEqual({
      kind: "text",
      text: "hello",
      quote,
    });
    expect(line.sent.find((message) => message.jid === jid(4915002))?.draft).toEqual({
      kind: "text",
      text: "hello",
    });
  });

  it("is told what is known when the gateway stops", async () => {
    const run = await startRun();
    const results = submitTo(run.outbox, [4915001], "hello");
    await rest();

    await run.outbox.drain();

    expect(await results).toMatchObject([{ state: "queued" }]);
  });
});

describe("a send whose commit is reported as failed though it was made", () => {
  /** A database server whose answers can be lost, and that can go away. */
  async function startOnServer() {
    const server = { losesAnswer: false, isAway: false };
    const away = () => Promise.reject(new StorageUnavailable("away"));
    const clock = manualClock();
    const run = await startRun({
      clock,
      wrap: (store) => ({
        ...store,
        read: (...question) => (server.isAway ? away() : store.read(...question)),
        readOne: (...question) => (server.isAway ? away() : store.readOne(...question)),
        writer: {
          ...store.writer,
          async commit(statements) {
            if (server.isAway && !server.losesAnswer) return away();
            const results = await store.writer.commit(statements);
            if (!server.losesAnswer) return results;
            server.losesAnswer = false;
            return away();
          },
        },
      }),
    });
    const line = scriptedLine();
    await run.connect(line);
    const log = silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" }));
    return { run, line, server, clock, idempotency: createIdempotency({ store: run.store, log }) };
  }
  const request = { keyId: "key", route: "/send-message", key: "mine", body: {} };

  it("leaves once, and its caller is told so", async () => {
    const { run, line, server } = await startOnServer();
    server.losesAnswer = true;

    const results = await submitTo(run.outbox, [4915001], "hello");

    expect(results).toMatchObject([{ state: "sent", id: line.sent[0]?.waId }]);
    expect(line.texts()).toEqual(["hello"]);
  });

  it("never leaves when its caller was told that it is not stored, and its key can be used again", async () => {
    const { run, line, server, clock, idempotency } = await startOnServer();
    const begun = await idempotency.begin(request);
    if (begun.kind !== "new") throw new Error("The key was used before.");
    const { claim } = begun;
    server.losesAnswer = true;
    server.isAway = true;

    const send = run.outbox.submit({
      deviceId: DEVICE,
      destinations: [{ number: "4915001", jid: jid(4915001) }],
      draft: { kind: "text", text: "hello" },
      beside: claim.statements,
      undo: claim.undo,
    });
    await expect(send).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await claim.end({ httpStatus: 503, body: {}, headers: {} });
    server.isAway = false;
    await run.connect(line);
    await clock.advance(5_000);
    await run.connect(line);
    await clock.advance(5_000);

    expect(line.sent).toEqual([]);
    expect(await rawRows(run.store, "SELECT id FROM outbox", [])).toEqual([]);
    expect(await idempotency.begin(request)).toMatchObject({ kind: "new" });
  });

  it("is not answered by its key with a fault that was told before", async () => {
    const { run, idempotency } = await startOnServer();
    const begun = await idempotency.begin(request);
    if (begun.kind !== "new") throw new Error("The key was used before.");
    await run.store.writer.commit(begun.claim.statements([{ number: "1", id: null }]));

    await begun.claim.end({ httpStatus: 503, body: {}, headers: {} });

    expect(await idempotency.begin(request)).toMatchObject({ kind: "stored" });
  });
});

describe("after a restart", () => {
  it("what was queued, and what was sent without an ack, leaves under its id, in order", async () => {
    const folder = await begunFolder();
    const before = await startRun({ folder });
    const silent = scriptedLine(hang);
    await before.connect(silent);
    const waIds = await reply(before, 7, jid(4915001), ["one", "two"]);
    await until(() => expect(silent.sent).toHaveLength(1));
    await before.close();

    const after = await startRun({ folder });
    await after.outbox.start();
    await after.outbox.open(DEVICE);
    const line = scriptedLine();
    await after.connect(line);

    await until(() => expect(line.sent.map(({ waId }) => waId)).toEqual(waIds));
    expect(line.texts()).toEqual(["one", "two"]);
    expect(silent.sent[0]).toEqual(line.sent[0]);
  });

  it("what is sent already is not sent again", async () => {
    const folder = await begunFolder();
    const before = await startRun({ folder });
    await before.connect(scriptedLine());
    await submitTo(before.outbox, [4915001], "done");
    await before.close();

    const after = await startRun({ folder, env: { SEND_WAIT_MS: "5000" } });
    await after.outbox.start();
    await after.outbox.open(DEVICE);
    const line = scriptedLine();
    await after.connect(line);
    await submitTo(after.outbox, [4915001], "next");

    expect(line.texts()).toEqual(["next"]);
  });

  it("replies have the ids that they had before, each its own", async () => {
    const folder = await begunFolder();
    const before = await startRun({ folder });
    const replies = ["a", "b"].map((text) => ({
      jid: jid(1),
      chat: jid(1),
      draft: { kind: "text" as const, text },
    }));
    const answer = { deviceId: DEVICE, inboxId: 9, origin: "webhook", replies };
    const first = before.outbox.rows(answer).waIds;
    await before.close();

    const after = await startRun({ folder });

    expect(after.outbox.rows(answer).waIds).toEqual(first);
    expect(new Set([...first, ...after.outbox.rows({ ...answer, inboxId: 10 }).waIds]).size).toBe(4);
  });
});
