import { describe, expect, it } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import { begunFolder } from "../store/temporary.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  impatientTime,
  OWN_NUMBER,
  rest,
  scriptedLine,
  textOf,
  until,
  type Line,
} from "../outbox/harness.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { crash, echo, saying, startPipeline, text, type PipelineRun } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const silent: Answerer = { ...echo(), answer: () => new Promise(() => undefined) };

/** The same database under new objects, as a new process has them. */
async function restart(folder: string): Promise<{ run: PipelineRun; line: Line }> {
  const run = await startPipeline({ folder, started: false });
  await run.outbox.start();
  await run.pipeline.open(DEVICE);
  const line = scriptedLine();
  await run.connect(line);
  return { run, line };
}

async function expectOneReplyEach(run: PipelineRun, lines: Line[], words: string[]): Promise<void> {
  const last = lines.at(-1)!;
  await until(async () => {
    const rows = await rawRows(run.store, "SELECT state FROM outbox", []);
    expect(rows.map(({ state }) => state)).toEqual(words.map(() => "sent"));
  });
  expect(await run.undecided()).toBe(0);
  const ids = new Map<string, Set<string>>();
  for (const message of lines.flatMap((line) => line.sent)) {
    const known = ids.get(textOf(message)) ?? new Set();
    ids.set(textOf(message), known.add(message.waId));
  }
  expect([...ids.keys()].sort()).toEqual(words.map((word) => `re: ${word}`).sort());
  for (const waIds of ids.values()) expect(waIds.size).toBe(1);
  expect(new Set(last.sent.map(({ waId }) => waId)).size).toBe(last.sent.length);
}

describe("a crash", () => {
  it("after the message was stored (T1): it is answered after the restart, in order", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder, answerers: [silent] });
    await before.receive(...["one", "two", "three"].map((words) => text(4915001, words)));
    await crash(before);

    const { run, line } = await restart(folder);

    await expectOneReplyEach(run, [line], ["one", "two", "three"]);
    expect(line.texts()).toEqual(["re: one", "re: two", "re: three"]);
  });

  it("after the reply was committed (T2), before it left", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder });
    await before.receive(text(4915001, "one"));
    await until(async () => expect(await before.undecided()).toBe(0));
    await crash(before);

    const { run, line } = await restart(folder);

    await expectOneReplyEach(run, [line], ["one"]);
  });

  it("after the reply left, before its ack was seen: it leaves again under the same id", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder });
    const first = scriptedLine(hang);
    await before.connect(first);
    await before.receive(text(4915001, "one"), text(4915002, "two"));
    await until(() => expect(first.sent).toHaveLength(2));
    await crash(before);

    const { run, line } = await restart(folder);

    await expectOneReplyEach(run, [first, line], ["one", "two"]);
    expect(line.sent).toHaveLength(2);
  });

  it("after the ack was committed (T3): nothing leaves again, and a redelivery is not answered anew", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder });
    const first = scriptedLine();
    await before.connect(first);
    const message = text(4915001, "one");
    await before.receive(message);
    await until(async () => {
      expect(first.sent).toHaveLength(1);
      expect(await before.outbox.find(ACCOUNT, first.sent[0]!.waId)).toMatchObject({ state: "sent" });
    });
    await crash(before);

    const { run, line } = await restart(folder);
    await run.receive(message, text(4915001, "two"));

    await until(() => expect(line.texts()).toEqual(["re: two"]));
  });
});

describe("the start", () => {
  it("puts what is received meanwhile behind what the last run left, once, and loses nothing received before it", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder, answerers: [silent] });
    await before.receive(text(4915001, "old"));
    await crash(before);
    const handled: string[] = [];
    const bot: Answerer = {
      ...echo(),
      answer: (stored, asked) => (handled.push(stored.message.text), echo().answer(stored, asked)),
    };
    const run = await startPipeline({ folder, started: false, answerers: [bot], slowStart: true });

    await run.receive(text(4915001, "early"));
    const starting = run.pipeline.open(DEVICE);
    const received = run.receive(text(4915001, "meanwhile"));
    await rest();
    run.letStart();
    await Promise.all([starting, received]);
    await run.receive(text(4915001, "late"));

    await until(async () => expect(await run.undecided()).toBe(0));
    expect(handled).toEqual(["old", "early", "meanwhile", "late"]);
  });
});

const away = (isAway: () => boolean) => (store: Store) => ({
  ...store,
  writer: {
    ...store.writer,
    commit: (statements: Parameters<Store["writer"]["commit"]>[0]) =>
      isAway() ? Promise.reject(new StorageUnavailable("disk full")) : store.writer.commit(statements),
  },
});

describe("storage that is away", () => {
  it("keeps a message at the head of its chat until it can be decided; the next waits behind it", async () => {
    let full = false;
    let asked = 0;
    const counting: Answerer = {
      ...echo(),
      answer: (stored, more) => (asked++, echo().answer(stored, more)),
    };
    const run = await startPipeline({
      answerers: [counting],
      wrap: away(() => full && asked > 0),
      time: impatientTime,
    });
    const line = scriptedLine();
    await run.connect(line);
    full = true;
    await run.receive(text(4915001, "one"), text(4915001, "two"));
    await until(() => expect(asked).toBeGreaterThan(8));
    expect(line.sent).toEqual([]);

    full = false;

    await until(() => expect(line.texts()).toEqual(["re: one", "re: two"]));
  });

  it("refuses a message that could not be stored, so that WhatsApp delivers it again", async () => {
    const run = await startPipeline({ wrap: away(() => true) });

    await expect(run.receive(text(4915001, "one"))).rejects.toBeInstanceOf(StorageUnavailable);
  });
});

describe("a lane", () => {
  it("answers what stands before a row that does not open, though it wanted the texts behind it", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder, answerers: [silent] });
    const broken = text(4915001, "broken");
    await before.receive(text(4915001, "whole"), broken);
    await before.store.writer.commit([
      { sql: "UPDATE inbox SET body = zeroblob(60) WHERE wa_id = ?", args: [broken.id] },
    ]);
    await crash(before);

    const merging: Answerer = {
      ...echo(),
      async answer(stored, { waitForMore }) {
        const merged = await waitForMore(0);
        return { ...saying(stored, `re: ${stored.message.text}`), merged };
      },
    };
    const run = await startPipeline({ folder, time: impatientTime, answerers: [merging] });
    const line = scriptedLine();
    await run.connect(line);

    await until(() => expect(line.texts()).toEqual(["re: whole"]));
    await until(async () => expect(await run.undecided()).toBe(0));
  });

  it("goes on behind a row that does not open", async () => {
    const folder = await begunFolder();
    const before = await startPipeline({ folder, answerers: [silent] });
    const broken = text(4915001, "broken");
    await before.receive(broken, text(4915001, "whole"));
    await before.store.writer.commit([
      { sql: "UPDATE inbox SET body = zeroblob(60) WHERE wa_id = ?", args: [broken.id] },
    ]);
    await crash(before);

    const run = await startPipeline({
      folder,
      time: impatientTime,
    });
    const line = scriptedLine();
    await run.connect(line);

    await until(() => expect(line.texts()).toEqual(["re: whole"]));
    expect(await run.decision(broken.id)).toMatchObject({
      by: null,
      trail: [{ by: "pipeline", outcome: "failed", detail: "SealBroken" }],
    });
  });

  it("ends with the message that it is at when the gateway stops; the rest is answered after the restart", async () => {
    const folder = await begunFolder();
    const finish: (() => void)[] = [];
    const slow: Answerer = {
      ...echo(),
      answer: async (stored, asked) => {
        await new Promise<void>((resolve) => finish.push(resolve));
        return echo().answer(stored, asked);
      },
    };
    const before = await startPipeline({ folder, answerers: [slow] });
    await before.receive(text(4915001, "one"), text(4915001, "two"));
    await until(() => expect(finish).toHaveLength(1));
    const drained = before.pipeline.drain();
    finish[0]!();
    await drained;
    await rest();
    expect(finish).toHaveLength(1);
    expect(await before.undecided()).toBe(1);
    await before.close();

    const { line } = await restart(folder);

    await until(() => expect(line.texts()).toEqual(["re: one", "re: two"]));
  });

  it("of an erased number drops what waits in it", async () => {
    const asked: string[] = [];
    const finish: (() => void)[] = [];
    const slow: Answerer = {
      ...echo(),
      answer: async (stored) => {
        asked.push(stored.message.text);
        await new Promise<void>((resolve) => finish.push(resolve));
        return { kind: "pass", trail: [] };
      },
    };
    const run = await startPipeline({ answerers: [slow] });
    const another = `INSERT INTO devices (id, account_id, number, state, since, created_at)
VALUES (?, ?, '4915000', 'connected', 0, 0)`;
    await run.store.writer.commit([{ sql: another, args: [DEVICE + 1, ACCOUNT] }]);
    await run.receive(text(4915001, "one"), text(4915001, "two"), text(4915002, "three"));
    await until(() => expect(asked).toEqual(["one", "three"]));

    const closed = run.pipeline.close(DEVICE);
    for (const go of finish) go();
    await closed;
    await run.pipeline.open(DEVICE + 1);
    const next = run.pipeline.receive(DEVICE + 1, OWN_NUMBER, [text(4915003, "four")]);
    await commitIntake(run.store.writer, next);

    await until(() => expect(asked).toEqual(["one", "three", "four"]));
    // What was being handled when it was closed is not decided either: somebody else may have the number by now.
    const decided = await rawRows(run.store, "SELECT 1 FROM decisions WHERE device_id = ?", [DEVICE]);
    expect(decided).toEqual([]);
  });
});
