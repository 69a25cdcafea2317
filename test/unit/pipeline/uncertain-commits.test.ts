import { describe, expect, it } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import { createChats } from "../../../src/pipeline/chats.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import { DEVICE, impatientTime, jid, OWN_NUMBER, scriptedLine, until } from "../outbox/harness.ts";
import { faultyStore } from "../store/faulty.ts";
import { echo, saying, startPipeline, text, typed, witness } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const DECISION = "INSERT INTO decisions";

/** An answerer that counts how often it is asked about each text. */
function counting(answer: Answerer["answer"] = echo().answer) {
  const asked: string[] = [];
  const answerer: Answerer = {
    ...echo(),
    answer(stored, more) {
      asked.push(stored.message.text);
      return answer(stored, more);
    },
  };
  return { answerer, asked };
}

describe("a decision whose commit got no answer", () => {
  it("counts: nobody is asked again, its replies leave once, and the chat goes on", async () => {
    const fault = faultyStore();
    const { answerer, asked } = counting();
    const run = await startPipeline({ answerers: [answerer], wrap: fault.wrap, time: impatientTime });
    const line = scriptedLine();
    await run.connect(line);
    fault.loseAnswers(DECISION);

    await run.receive(text(4915001, "one"), text(4915001, "two"));

    await until(() => expect(line.texts()).toEqual(["re: one", "re: two"]));
    await until(async () => expect(await run.undecided()).toBe(0));
    expect(fault.faults).toBe(1);
    expect(asked).toEqual(["one", "two"]);
    expect(await rawRows(run.store, "SELECT count(*) AS n FROM outbox", [])).toMatchObject([{ n: 2 }]);
  });

  it("counts for the messages that were answered together with it", async () => {
    const fault = faultyStore();
    const { answerer, asked } = counting(async (stored, { waitForMore }) => {
      const merged = await waitForMore(0);
      const texts = [stored, ...merged].map(({ message }) => message.text);
      return { ...saying(stored, texts.join(" ")), merged };
    });
    const run = await startPipeline({ answerers: [answerer], wrap: fault.wrap, time: impatientTime });
    const line = scriptedLine();
    await run.connect(line);
    fault.loseAnswers(DECISION);

    await run.receive(text(4915001, "one"), text(4915001, "two"), text(4915001, "three"));

    await until(async () => expect(await run.undecided()).toBe(0));
    await until(() => expect(line.texts()).toEqual(["one two three"]));
    expect(asked).toEqual(["one"]);
  });

  it("counts for the chat: a takeover that it began holds", async () => {
    const fault = faultyStore();
    const { answerer, asked } = counting();
    const run = await startPipeline({ answerers: [answerer], wrap: fault.wrap, time: impatientTime });
    await run.connect(scriptedLine());
    fault.loseAnswers(DECISION);

    await run.receive(typed(4915001, "I take it from here"), text(4915001, "hello"));

    await until(async () => expect(await run.undecided()).toBe(0));
    expect(asked).toEqual([]);
    const hello = await rawRows(run.store, "SELECT guard FROM decisions ORDER BY inbox_id DESC LIMIT 1", []);
    expect(hello).toMatchObject([{ guard: "takeover" }]);
  });

  it("is made again when it did not come through", async () => {
    const { answerer, asked } = counting();
    let away = true;
    const run = await startPipeline({
      answerers: [answerer],
      time: impatientTime,
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          async commit(statements) {
            if (!away || !statements.some(({ sql }) => sql.includes(DECISION)))
              return store.writer.commit(statements);
            away = false;
            throw new StorageUnavailable("away");
          },
        },
      }),
    });
    const line = scriptedLine();
    await run.connect(line);

    await run.receive(text(4915001, "one"));

    await until(() => expect(line.texts()).toEqual(["re: one"]));
    expect(asked).toEqual(["one", "one"]);
  });

  it("is never made twice, even by somebody who does not look: the database refuses the second", async () => {
    const run = await startPipeline({ answerers: [counting().answerer] });
    const units: Parameters<typeof run.store.writer.commit>[0][] = [];
    const spied = await startPipeline({
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit(statements) {
            units.push(statements);
            return store.writer.commit(statements);
          },
        },
      }),
    });
    await spied.connect(scriptedLine());
    await spied.receive(text(4915001, "one"));
    await until(async () => expect(await spied.undecided()).toBe(0));
    const decided = units.find((statements) => statements.some(({ sql }) => sql.includes(DECISION)))!;

    await expect(spied.store.writer.commit(decided)).rejects.toMatchObject({ name: "ConstraintViolation" });
    expect(await rawRows(spied.store, "SELECT count(*) AS n FROM outbox", [])).toMatchObject([{ n: 1 }]);
    await run.close();
  });
});

describe("what fails after the commit of a decision", () => {
  it("asks nobody again, and keeps nobody from what is theirs", async () => {
    const { answerer, asked } = counting();
    const { answerer: listening, told } = witness();
    const failing: Answerer = {
      ...listening,
      forward: () => ({
        statements: [],
        afterCommit: () => Promise.reject(new Error("The database cannot be read.")),
      }),
    };
    const run = await startPipeline({ answerers: [answerer, failing, listening], time: impatientTime });
    const line = scriptedLine();
    await run.connect(line);

    await run.receive(text(4915001, "one"), text(4915001, "two"));

    await until(() => expect(line.texts()).toEqual(["re: one", "re: two"]));
    expect(asked).toEqual(["one", "two"]);
    // And whoever else is to be told of it is told.
    await until(() => expect(told).toEqual(["one", "two"]));
  });
});

describe("a message that was stored while the answer to its commit was lost", () => {
  const INSERT = "INSERT INTO inbox";

  async function begin(answerers = [counting().answerer]) {
    const fault = faultyStore();
    const run = await startPipeline({ answerers, wrap: fault.wrap, time: impatientTime });
    const line = scriptedLine();
    await run.connect(line);
    return { fault, run, line };
  }

  it("is answered before what the next connection brings, and once", async () => {
    const { answerer, asked } = counting();
    const { fault, run, line } = await begin([answerer]);
    fault.loseAnswers(INSERT);
    const one = text(4915001, "one");
    await expect(run.receive(one)).rejects.toThrow(StorageUnavailable);

    // WhatsApp has had no receipt: the next connection brings it again.
    await run.path.settle(DEVICE);
    await run.receive(one, text(4915001, "two"));

    await until(() => expect(line.texts()).toEqual(["re: one", "re: two"]));
    expect(asked).toEqual(["one", "two"]);
    expect(await run.undecided()).toBe(0);
  });

  it("keeps a connection from reading until the database answers", async () => {
    const { fault, run, line } = await begin();
    fault.loseAnswers(INSERT);
    await expect(run.receive(text(4915001, "one"))).rejects.toThrow(StorageUnavailable);
    fault.failReads("FROM inbox");

    await expect(run.path.settle(DEVICE)).rejects.toThrow(StorageUnavailable);
    await run.path.settle(DEVICE);

    await until(() => expect(line.texts()).toEqual(["re: one"]));
  });

  it("is looked for only when an answer is missing", async () => {
    const { fault, run, line } = await begin();
    await run.receive(text(4915001, "one"));
    await until(() => expect(line.texts()).toEqual(["re: one"]));
    fault.failReads("FROM inbox");

    await expect(run.path.settle(DEVICE)).resolves.toBeUndefined();
  });

  it("is handled once when the answer comes after all, later than the look at the table", async () => {
    const { answerer, asked } = counting();
    const { run, line } = await begin([answerer]);
    const intake = run.path.receive(DEVICE, OWN_NUMBER, [text(4915001, "one")]);
    const results = await run.store.writer.commit(intake.statements);
    await run.path.settle(DEVICE);
    await until(() => expect(line.texts()).toEqual(["re: one"]));

    intake.committed(results);
    await run.path.settle(DEVICE);

    expect(await run.undecided()).toBe(0);
    expect(asked).toEqual(["one"]);
  });
});

describe("facts of a chat", () => {
  it("are one, however many ask while they are read: a takeover is not lost in memory", async () => {
    const reads: ((row: null) => void)[] = [];
    const readOne = () => new Promise<null>((resolve) => reads.push(resolve));
    const chats = createChats({ readOne, now: () => 1_000, writer: {} as never });
    const chat = jid(4915001);

    // The loop guard of a webhook's late reply asks while the message is being read for; both reads end one after the other.
    const [first, second] = [chats.load(1, chat), chats.load(1, chat)];
    reads[0]!(null);
    const facts = await first;
    chats.saved(1, chat, { takeoverUntil: 5_000 }, facts);
    for (const answer of reads.slice(1)) answer(null);
    await second;

    expect((await chats.load(1, chat)).takeoverUntil).toBe(5_000);
  });
});
