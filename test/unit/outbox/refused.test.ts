import { describe, expect, it } from "vitest";
import { begunFolder } from "../store/temporary.ts";
import {
  DEVICE,
  ACCOUNT,
  jid,
  manualClock,
  reply,
  scriptedLine,
  startRun,
  submitTo,
  wroteAt,
} from "./harness.ts";

const MINUTE = 60_000;
const locked = (until?: number, lockedFor?: string) => () =>
  ({ kind: "refused", code: 463, reason: "463", until, lockedFor }) as const;

describe("error 463", () => {
  it("fails the message and, without asking WhatsApp, every first contact until the time that was named", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const until = clock.now() + 5 * MINUTE;
    const line = scriptedLine(locked(until));
    await run.connect(line);
    const error = { code: "REACHOUT_LOCKED", until: new Date(until).toISOString() };

    const [refused] = await submitTo(run.outbox, [4915001], "hello");
    line.answer(() => ({ kind: "sent" }));
    const [second] = await submitTo(run.outbox, [4915002], "hello");
    await clock.advance(5 * MINUTE);
    const [third] = await submitTo(run.outbox, [4915003], "hello");

    expect(refused).toMatchObject({ state: "failed", error });
    expect(second).toMatchObject({ state: "failed", error });
    expect(third).toMatchObject({ state: "sent" });
    expect(line.sent.map((message) => message.jid)).toEqual([jid(4915001), jid(4915003)]);
    expect(await run.outbox.find(ACCOUNT, second!.id!)).toMatchObject({ state: "failed", error });
  });

  it("is told with its end and WhatsApp's word for it, as long as it lasts", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const until = clock.now() + 5 * MINUTE;
    await run.connect(scriptedLine(locked(until, "BIZ_QUALITY")));
    expect(run.outbox.reachoutLock(1)).toBeNull();

    await submitTo(run.outbox, [4915001], "hello");

    expect(run.outbox.reachoutLock(1)).toEqual({ until, reason: "BIZ_QUALITY" });
    await clock.advance(5 * MINUTE);
    expect(run.outbox.reachoutLock(1)).toBeNull();
  });

  it("is changed and ended by what WhatsApp tells later, and its word survives a restart", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const run = await startRun({ clock, folder });
    await run.connect(scriptedLine(locked()));
    await submitTo(run.outbox, [4915001], "hello");
    const until = clock.now() + 24 * 60 * MINUTE;

    await run.outbox.lockTold(DEVICE, { until, reason: "BIZ_QUALITY" });
    expect(run.outbox.reachoutLock(DEVICE)).toEqual({ until, reason: "BIZ_QUALITY" });
    await run.close();
    const after = await startRun({ clock, folder });
    await after.outbox.start();
    expect(after.outbox.reachoutLock(DEVICE)).toEqual({ until, reason: "BIZ_QUALITY" });
    await after.outbox.lockTold(DEVICE, null);
    await after.connect(scriptedLine());

    expect(after.outbox.reachoutLock(DEVICE)).toBeNull();
    expect(await submitTo(after.outbox, [4915002], "hello")).toMatchObject([{ state: "sent" }]);
  });

  it("that WhatsApp tells of before anything was refused holds back what waits", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const line = scriptedLine();
    await run.connect(line);
    const until = clock.now() + 5 * MINUTE;

    await run.outbox.lockTold(DEVICE, { until, reason: null });
    const [held] = await submitTo(run.outbox, [4915001], "hello");

    expect(held).toMatchObject({
      state: "failed",
      error: { code: "REACHOUT_LOCKED", until: new Date(until).toISOString() },
    });
    expect(line.sent).toEqual([]);
  });

  it("lasts an hour when WhatsApp names no time", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const line = scriptedLine(locked());
    await run.connect(line);
    const until = new Date(clock.now() + 60 * MINUTE).toISOString();

    const [refused] = await submitTo(run.outbox, [4915001], "hello");

    expect(refused).toMatchObject({ error: { code: "REACHOUT_LOCKED", until } });
  });

  it("leaves known chats alone: who wrote to us, and who got something from us before", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const line = scriptedLine();
    await run.connect(line);
    await submitTo(run.outbox, [4915001], "earlier");
    await wroteAt(run.store, jid(4915002), clock.now() - 30 * 24 * 60 * MINUTE);
    line.answer(locked());
    await submitTo(run.outbox, [4915003], "first contact");
    line.answer(() => ({ kind: "sent" }));

    const results = await submitTo(run.outbox, [4915001, 4915002, 4915004], "hello");
    await reply(run, 1, jid(4915005), ["reply"]);
    await clock.advance(0);

    expect(results.map(({ state }) => state)).toEqual(["sent", "sent", "failed"]);
    expect(line.texts(jid(4915005))).toEqual(["reply"]);
  });

  it("leaves somebody alone who wrote under a LID before the number was known", async () => {
    const clock = manualClock();
    const run = await startRun({ clock });
    const line = scriptedLine(locked());
    await run.connect(line);
    await wroteAt(run.store, "77001@lid", clock.now() - 30 * 24 * 60 * MINUTE);
    await run.store.writer.commit([
      { sql: "INSERT INTO lid_map VALUES (?, '77001', '4915002', 0)", args: [DEVICE] },
    ]);
    await submitTo(run.outbox, [4915003], "first contact");
    line.answer(() => ({ kind: "sent" }));

    const results = await submitTo(run.outbox, [4915002, 4915004], "hello");

    expect(results.map(({ state }) => state)).toEqual(["sent", "failed"]);
  });

  it("fails first contacts that are waiting already, also while the number is offline", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { PACE_PER_MINUTE: "1" } });
    const line = scriptedLine(locked());
    await run.connect(line);
    const waiting = Array.from({ length: 40 }, (_, index) => 4915100 + index);

    const results = await submitTo(run.outbox, waiting, "hello");
    await run.connect(null);
    const offline = await submitTo(run.outbox, [4915001], "hello");

    expect(results.every(({ error }) => error?.code === "REACHOUT_LOCKED")).toBe(true);
    expect(line.sent.length).toBeLessThanOrEqual(8);
    expect(offline).toMatchObject([{ state: "failed", error: { code: "REACHOUT_LOCKED" } }]);
  });

  it("is not forgotten by a restart", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const before = await startRun({ clock, folder });
    await before.connect(scriptedLine(locked()));
    await submitTo(before.outbox, [4915001], "hello");
    await before.close();

    const after = await startRun({ clock, folder });
    await after.outbox.start();
    await after.outbox.open(DEVICE);
    const line = scriptedLine();
    await after.connect(line);
    const [result] = await submitTo(after.outbox, [4915002], "hello");

    expect(result).toMatchObject({ state: "failed", error: { code: "REACHOUT_LOCKED" } });
    expect(line.sent).toEqual([]);
  });
});

describe("other refusals", () => {
  it("tries 479 once more under the same id", async () => {
    const run = await startRun();
    let refusals = 1;
    const line = scriptedLine(() =>
      refusals-- > 0 ? { kind: "refused", code: 479, reason: "479" } : { kind: "sent" },
    );
    await run.connect(line);

    const [result] = await submitTo(run.outbox, [4915001], "hello");

    expect(result).toMatchObject({ state: "sent" });
    expect(line.sent.map(({ waId }) => waId)).toEqual([result!.id, result!.id]);
  });

  it("fails with WhatsApp's code, after a second 479 and for everything else", async () => {
    const run = await startRun();
    const line = scriptedLine(() => ({ kind: "refused", code: 479, reason: "479" }));
    await run.connect(line);

    const [stale] = await submitTo(run.outbox, [4915001], "hello");
    line.answer(() => ({ kind: "refused", code: 406, reason: "406" }));
    const [other] = await submitTo(run.outbox, [4915002], "hello");
    line.answer(() => ({ kind: "refused", code: 404, reason: "not_on_whatsapp" }));
    const [nobody] = await submitTo(run.outbox, [4915003], "hello");

    expect(stale?.error).toEqual({ code: "WHATSAPP_REFUSED", message: "479", whatsapp_code: 479 });
    expect(other?.error).toEqual({ code: "WHATSAPP_REFUSED", message: "406", whatsapp_code: 406 });
    expect(nobody?.error).toEqual({ code: "NOT_ON_WHATSAPP" });
    expect(line.sent).toHaveLength(4);
  });
});
