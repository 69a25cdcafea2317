import { describe, expect, it } from "vitest";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { OutgoingMessage, SendOutcome } from "../../../src/whatsapp/port.ts";
import { begunFolder } from "../store/temporary.ts";
import {
  ACCOUNT,
  DEVICE,
  jid,
  manualClock,
  reply,
  scriptedLine,
  startRun,
  submitTo,
  textOf,
  type Line,
  type ManualClock,
  type Run,
} from "./harness.ts";

const MINUTE = 60_000;
const POISONED = jid(4915001);
const NO_WAIT = { SEND_WAIT_MS: "0" };

/** What one attempt at the poisoned message comes to; all others are acknowledged. */
function lineOf(attempt: (message: OutgoingMessage) => SendOutcome | Promise<SendOutcome>): Line {
  return scriptedLine((message) =>
    textOf(message) === "undeliverable" ? attempt(message) : { kind: "sent" },
  );
}

const attempts = (line: Line): number =>
  line.texts(POISONED).filter((text) => text === "undeliverable").length;

/** Another chat of the number is written to once a minute, and what is written arrives. */
async function elsewhere(run: Run, clock: ManualClock, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await submitTo(run.outbox, [4915002], "hello");
    await clock.advance(MINUTE);
  }
}

const unanswered: SendOutcome = { kind: "unknown", reason: "WhatsApp did not answer the query for devices." };

describe("a message that fails again and again while others of its number go out", () => {
  it.each<[string, () => SendOutcome | Promise<SendOutcome>, string]>([
    ["is not answered", () => unanswered, "WHATSAPP_REFUSED"],
    [
      "is refused by the media host in a way that passes",
      () => ({ kind: "unknown", reason: "WhatsApp's media host answered 500.", code: 500 }),
      "WHATSAPP_REFUSED",
    ],
    [
      "makes the connection throw",
      () => {
        throw new TypeError("Cannot read properties of undefined");
      },
      "INTERNAL_ERROR",
    ],
    [
      "makes the connection reject",
      () => Promise.reject(new Error("a message of the library")),
      "INTERNAL_ERROR",
    ],
    [
      "ends in an error of the gateway's own",
      () => ({ kind: "unknown", reason: "Cannot read properties of undefined", blame: "gateway" }),
      "INTERNAL_ERROR",
    ],
    ["is answered with 429", () => ({ kind: "limited", reason: "429" }), "WHATSAPP_REFUSED"],
  ])("(%s) fails with the reason, and its chat goes on", async (_, attempt, code) => {
    const clock = manualClock();
    const run = await startRun({ clock, env: NO_WAIT });
    const line = lineOf(attempt);
    await run.connect(line);
    const [undeliverable] = await submitTo(run.outbox, [4915001], "undeliverable");
    await submitTo(run.outbox, [4915001], "after it");

    await elsewhere(run, clock, 9);
    const early = await run.outbox.find(ACCOUNT, undeliverable!.id!);
    await elsewhere(run, clock, 5);

    expect(early).toMatchObject({ state: "queued", error: null });
    const ended = await run.outbox.find(ACCOUNT, undeliverable!.id!);
    expect(ended).toMatchObject({ state: "failed", error: { code } });
    expect(String(ended!.error!["message"])).toMatch(/^Given up after \d+ attempts in \d+ minutes: .+\.$/);
    expect(String(ended!.error!["message"])).not.toContain("undefined");
    expect(attempts(line)).toBeGreaterThanOrEqual(10);
    expect(line.texts(POISONED).at(-1)).toBe("after it");
  });

  it("is given ten attempts, however long they take", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: NO_WAIT });
    const slow = lineOf(async () => {
      await clock.time.pause(3 * MINUTE);
      return unanswered;
    });
    await run.connect(slow);
    const [undeliverable] = await submitTo(run.outbox, [4915001], "undeliverable");

    await elsewhere(run, clock, 25);
    const early = await run.outbox.find(ACCOUNT, undeliverable!.id!);
    await elsewhere(run, clock, 20);

    expect(early).toMatchObject({ state: "queued" });
    expect(await run.outbox.find(ACCOUNT, undeliverable!.id!)).toMatchObject({ state: "failed" });
    expect(attempts(slow)).toBe(10);
  });

  it("goes on counting after restarts", async () => {
    const clock = manualClock();
    const folder = await begunFolder();
    let id = "";
    let tries = 0;
    for (let start = 0; start < 4; start++) {
      const run = await startRun({ clock, folder, env: NO_WAIT });
      const line = lineOf(() => unanswered);
      await run.outbox.start();
      await run.connect(line);
      if (start === 0) id = (await submitTo(run.outbox, [4915001], "undeliverable"))[0]!.id!;
      // Fewer attempts, and less time, than one run would need.
      await elsewhere(run, clock, 3);
      tries += attempts(line);
      if (start < 3) expect(await run.outbox.find(ACCOUNT, id)).toMatchObject({ state: "queued" });
      else expect(await run.outbox.find(ACCOUNT, id)).toMatchObject({ state: "failed" });
      await run.close();
    }
    expect(tries).toBeGreaterThanOrEqual(10);
  });
});

describe("a message waits as long as it has to when", () => {
  const line503 = (): SendOutcome => ({
    kind: "unknown",
    reason: "WhatsApp's media host answered 503.",
    blame: "media",
  });

  it.each<[string, () => SendOutcome | Promise<SendOutcome>]>([
    ["the connection is at fault", () => ({ kind: "unknown", reason: "closed", blame: "line" })],
    ["the whole media service is", line503],
    ["the database is", () => Promise.reject(new StorageUnavailable("away"))],
  ])("%s", async (_, attempt) => {
    const clock = manualClock();
    const run = await startRun({ clock, env: NO_WAIT });
    const line = lineOf(attempt);
    await run.connect(line);
    const [waits] = await submitTo(run.outbox, [4915001], "undeliverable");

    await elsewhere(run, clock, 60);

    expect(await run.outbox.find(ACCOUNT, waits!.id!)).toMatchObject({ state: "queued", error: null });
    line.answer(() => ({ kind: "sent" }));
    await clock.advance(MINUTE);
    expect(await run.outbox.find(ACCOUNT, waits!.id!)).toMatchObject({ state: "sent" });
  });

  it("nothing of its number is acknowledged", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: NO_WAIT });
    const line = scriptedLine();
    await run.connect(line);
    await submitTo(run.outbox, [4915003], "once it did");
    line.answer(() => unanswered);
    const [first] = await submitTo(run.outbox, [4915001], "undeliverable");
    await submitTo(run.outbox, [4915002], "undeliverable");

    await clock.advance(120 * MINUTE);

    expect(await run.outbox.find(ACCOUNT, first!.id!)).toMatchObject({ state: "queued" });
  });

  it("what was acknowledged was long before", async () => {
    const clock = manualClock();
    const run = await startRun({ clock, env: NO_WAIT });
    const line = lineOf(() => unanswered);
    await run.connect(line);
    const [first] = await submitTo(run.outbox, [4915001], "undeliverable");
    await elsewhere(run, clock, 1);
    // From now on WhatsApp answers nobody.
    line.answer(() => unanswered);

    await clock.advance(120 * MINUTE);

    expect(await run.outbox.find(ACCOUNT, first!.id!)).toMatchObject({ state: "queued" });
  });
});

it("names what waits for the media service, until it takes files again", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: NO_WAIT });
  const line = lineOf(() => ({
    kind: "unknown",
    reason: "WhatsApp's media host answered 503.",
    blame: "media",
  }));
  await run.connect(line);
  expect(run.outbox.waitsForMedia(DEVICE)).toBeNull();
  const began = clock.now();
  await submitTo(run.outbox, [4915001], "undeliverable");
  await elsewhere(run, clock, 5);

  expect(run.outbox.waitsForMedia(DEVICE)).toEqual({
    since: began,
    chats: 1,
    reason: "WhatsApp's media host answered 503.",
  });
  line.answer(() => ({ kind: "sent" }));
  await clock.advance(MINUTE);
  expect(run.outbox.waitsForMedia(DEVICE)).toBeNull();
});

it("a message that goes out at once costs no statement more than before", async () => {
  const clock = manualClock();
  const commits: string[][] = [];
  const run = await startRun({
    clock,
    wrap: (store) => {
      const noting =
        (commit: typeof store.writer.commit): typeof commit =>
        (statements) => {
          commits.push(statements.map(({ sql }) => sql.split(/\s/)[0]!));
          return commit(statements);
        };
      const { writer } = store;
      return { ...store, writer: { ...writer, commit: noting(writer.commit), soon: noting(writer.soon) } };
    },
  });
  await run.connect(scriptedLine());

  await reply(run, 1, jid(4915001), ["one"]);
  await clock.advance(1_000);

  // The reply's own commit is made by the pipeline; this is its outcome.
  expect(commits).toEqual([["INSERT"], ["UPDATE"]]);
});
