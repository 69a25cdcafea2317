import { describe, expect, it } from "vitest";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { begunFolder } from "../store/temporary.ts";
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
  textOf,
  until,
} from "./harness.ts";
import { createObservers } from "../../../src/path/observers.ts";
import { rawRows } from "../store/rows.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const limited = (): SendOutcome => ({ kind: "limited", reason: "429" });

describe("429", () => {
  it("pauses the whole number, replies too, then lets one message try", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "0" } });
    const line = scriptedLine(limited);
    await run.connect(line);
    await submitTo(run.outbox, [4915001], "one");
    await clock.advance(0);
    await submitTo(run.outbox, [4915002], "two");
    await reply(run, 1, jid(4915003), ["three"]);

    await clock.advance(4_999);
    expect(line.texts()).toEqual(["one"]);
    await clock.advance(1);
    expect(line.sent).toHaveLength(2);
    // The second pause is twice as long.
    await clock.advance(9_999);
    expect(line.sent).toHaveLength(2);
    line.answer(() => ({ kind: "sent" }));
    await clock.advance(1);

    expect(new Set(line.texts())).toEqual(new Set(["one", "two", "three"]));
    expect(line.sent).toHaveLength(5);
    await clock.advance(200);
    expect(await rawRows(run.store, "SELECT id FROM outbox WHERE state <> 'sent'", [])).toEqual([]);
  });

  it("is counted once for what was under way together, and forgotten after a success", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "0" } });
    const line = scriptedLine(limited);
    await run.connect(null);
    await submitTo(run.outbox, [4915001, 4915002, 4915003, 4915004], "hello");
    await run.connect(line);
    await clock.advance(0);
    expect(line.sent).toHaveLength(4);
    expect(await rawRows(run.store, "SELECT times FROM send_brakes", [])).toMatchObject([{ times: 1 }]);
    line.answer(() => ({ kind: "sent" }));

    await clock.advance(5_000);

    expect(line.sent).toHaveLength(8);
    expect(await rawRows(run.store, "SELECT times FROM send_brakes", [])).toEqual([]);
  });

  it("lasts as long as WhatsApp says, an hour at most, and says until when", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "0" } });
    const line = scriptedLine(() => ({ ...limited(), kind: "limited", waitMs: 20 * MINUTE }) as SendOutcome);
    await run.connect(line);
    expect(run.outbox.pausedUntil(DEVICE)).toBeNull();
    await submitTo(run.outbox, [4915001], "one");
    await clock.advance(0);

    expect(run.outbox.pausedUntil(DEVICE)).toBe(clock.now() + 20 * MINUTE);
    await clock.advance(20 * MINUTE - 1);
    expect(line.sent).toHaveLength(1);
    line.answer(() => ({ kind: "limited", reason: "429", waitMs: DAY }));
    await clock.advance(1);
    expect(line.sent).toHaveLength(2);
    expect(run.outbox.pausedUntil(DEVICE)).toBe(clock.now() + 60 * MINUTE);
    line.answer(() => ({ kind: "sent" }));
    await clock.advance(60 * MINUTE);

    expect(line.sent).toHaveLength(3);
    expect(run.outbox.pausedUntil(DEVICE)).toBeNull();
  });

  it("is not forgotten by a restart", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const before = await startRun({ clock, folder, env: { SEND_WAIT_MS: "0" } });
    await before.connect(scriptedLine(limited));
    await submitTo(before.outbox, [4915001], "hello");
    await clock.advance(0);
    await before.close();

    const after = await startRun({ clock, folder, env: { SEND_WAIT_MS: "0" } });
    await after.outbox.start();
    await after.outbox.open(DEVICE);
    const line = scriptedLine();
    await after.connect(line);
    await clock.advance(4_999);
    expect(line.sent).toEqual([]);
    await clock.advance(1);

    expect(line.texts()).toEqual(["hello"]);
  });
});

describe("places", () => {
  it("are given to others when destinations do not answer, up to a limit", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "0" } });
    const line = scriptedLine((message) => (textOf(message) === "stuck" ? hang() : { kind: "sent" }));
    await run.connect(line);
    for (let index = 0; index < 400; index++) await reply(run, index + 1, jid(4915100 + index), ["stuck"]);
    await reply(run, 1_000, jid(4915001), ["free"]);
    await clock.advance(0);
    expect(line.sent).toHaveLength(16);

    await clock.advance(2_000);
    expect(line.sent).toHaveLength(32);
    await clock.advance(10 * MINUTE);

    expect(line.sent).toHaveLength(256);
    expect(line.texts()).not.toContain("free");
  });

  it("leave one to what answers nobody, however many replies there are", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "0" } });
    const acks: (() => void)[] = [];
    const line = scriptedLine(() => new Promise((resolve) => acks.push(() => resolve({ kind: "sent" }))));
    await run.connect(null);
    for (let index = 0; index < 100; index++) await reply(run, index + 1, jid(4915100 + index), ["reply"]);
    await submitTo(run.outbox, [4915001, 4915002, 4915003], "bulk");

    await run.connect(line);
    await clock.advance(0);

    expect(line.texts().filter((text) => text === "reply")).toHaveLength(15);
    expect(line.texts().filter((text) => text === "bulk")).toHaveLength(1);
    while (line.texts().filter((text) => text === "bulk").length < 3) {
      acks.shift()!();
      await clock.advance(0);
    }
    expect(line.texts().filter((text) => text === "reply").length).toBeLessThan(100);
  });
});

describe("a restart", () => {
  it("does not fill the bucket again: what left lately still counts", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const env = { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "60" };
    const before = await startRun({ clock, folder, env });
    await before.connect(scriptedLine());
    for (let index = 0; index < 20; index++) await submitTo(before.outbox, [4915100 + index], "bulk");
    await clock.advance(0);
    await before.close();

    const after = await startRun({ clock, folder, env });
    await after.outbox.start();
    await after.outbox.open(DEVICE);
    const line = scriptedLine();
    await after.connect(line);
    for (let index = 0; index < 20; index++) await submitTo(after.outbox, [4915200 + index], "more");
    await clock.advance(0);
    expect(line.sent).toEqual([]);
    await clock.advance(3_000);

    expect(line.sent).toHaveLength(3);
  });

  it("counts what may have left when the last run ended", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const env = { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "60" };
    let left = 0;
    for (let run = 0; run < 5; run++) {
      const { outbox, connect, close } = await startRun({ clock, folder, env });
      await outbox.start();
      await outbox.open(DEVICE);
      const line = scriptedLine(hang);
      if (run === 0)
        await submitTo(
          outbox,
          Array.from({ length: 100 }, (_, n) => 4915100 + n),
          "bulk",
        );
      await connect(line);
      await clock.advance(0);
      left += line.sent.length;
      await close();
    }

    // Five bursts would be 40 at once; eight may be under way in each run, and the bucket holds 20.
    expect(left).toBeLessThanOrEqual(8 + 4 * 12);
    expect(left).toBeGreaterThan(0);
  });
});

describe("what waits too long", () => {
  it("expires though the number stays away, with its reason, and whoever looks is told", async () => {
    const clock = manualClock();
    const changed: string[] = [];
    const observers = createObservers();
    observers.add({ message: ({ waId }) => void changed.push(waId) });
    const run = await startRun({
      clock,
      env: { RETENTION_DAYS: "3", SEND_WAIT_MS: "0" },
      parts: { observers },
    });
    await run.outbox.start();
    await run.outbox.open(DEVICE);
    const [late] = await submitTo(run.outbox, [4915001], "late");
    const id = late!.id!;
    await clock.advance(3 * DAY);
    expect(await run.outbox.find(ACCOUNT, id)).toMatchObject({ state: "queued" });
    changed.length = 0;

    await clock.advance(2 * 60 * MINUTE);

    expect(await run.outbox.find(ACCOUNT, id)).toMatchObject({
      state: "expired",
      error: { code: "EXPIRED" },
    });
    expect(changed).toEqual([id]);
    const line = scriptedLine();
    await run.connect(line);
    await clock.advance(MINUTE);
    expect(line.sent).toEqual([]);
  });
});

describe("a group that is closed", () => {
  it("gets no reply: the message fails with the reason, and WhatsApp is not asked", async () => {
    const group = "1203630@g.us";
    const run = await startRun({
      parts: { directory: { refusal: async () => ({ code: "CANNOT_SEND", reason: "only_admins" }) } },
    });
    const line = scriptedLine();
    await run.connect(line);

    const [id] = await reply(run, 1, group, ["an answer"]);
    const [other] = await reply(run, 2, jid(4915001), ["to a person"]);

    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({
        state: "failed",
        error: { code: "CANNOT_SEND", reason: "only_admins" },
      }),
    );
    await until(async () => expect(await run.outbox.find(ACCOUNT, other!)).toMatchObject({ state: "sent" }));
    expect(line.texts()).toEqual(["to a person"]);
  });
});

describe("a message that may have left", () => {
  it("waits until WhatsApp has told what it kept, and others do not", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    const before = await startRun({ clock, folder });
    await before.connect(scriptedLine(hang));
    await reply(before, 1, jid(4915001), ["uncertain", "behind it"]);
    await clock.advance(0);
    await before.close();

    const run = await startRun({ clock, folder });
    await run.outbox.start();
    await run.outbox.open(DEVICE);
    let handOver!: () => void;
    const line = scriptedLine();
    const heard = new Promise<void>((resolve) => (handOver = resolve));
    line.connection.caughtUp = () => heard;
    await run.connect(line);
    await reply(run, 2, jid(4915002), ["certain"]);
    await clock.advance(MINUTE);
    expect(line.texts()).toEqual(["certain"]);
    handOver();
    await clock.advance(0);

    expect(line.texts()).toEqual(["certain", "uncertain", "behind it"]);
  });

  it("is not failed by a refusal when a receipt came first", async () => {
    const run = await startRun();
    let refuse!: () => void;
    const line = scriptedLine(
      () => new Promise((resolve) => (refuse = () => resolve({ kind: "refused", code: 406, reason: "406" }))),
    );
    await run.connect(line);
    const [id] = await reply(run, 1, jid(4915001), ["there already"]);
    await until(() => expect(line.sent).toHaveLength(1));

    run.outbox.receipt(DEVICE, [{ waId: id!, jid: jid(4915001), state: "delivered", at: 5 }]);
    refuse();

    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, id!)).toMatchObject({ state: "delivered" }),
    );
  });
});
