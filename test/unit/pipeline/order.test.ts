import { describe, expect, it } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import { ACCOUNT, jid, rest, scriptedLine, until } from "../outbox/harness.ts";
import { echo, saying, startPipeline, text, witness } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const note = (key: string) => ({ sql: "INSERT INTO meta (key, value) VALUES (?, '')", args: [key] });

describe("one chat", () => {
  it("is answered in the order of arrival, 50 of them with 20 messages each, under random delays", async () => {
    const handled = new Map<string, string[]>();
    let together = 0;
    let most = 0;
    const slow: Answerer = {
      ...echo(),
      async answer(stored) {
        most = Math.max(most, ++together);
        await later(Math.random() * 5);
        together--;
        const { chat, text: words } = stored.message;
        handled.set(chat, [...(handled.get(chat) ?? []), words]);
        return saying(stored, `re: ${words}`);
      },
    };
    const run = await startPipeline({ answerers: [slow], env: { LOOP_GUARD_PER_MINUTE: "0" } });
    const line = scriptedLine(async () => {
      await later(Math.random() * 3);
      return { kind: "sent" };
    });
    await run.connect(line);
    const words = Array.from({ length: 20 }, (_, turn) => `text ${turn}`);

    const arrivals = words.flatMap((word) =>
      Array.from({ length: 50 }, (_, chat) => text(4915000 + chat, word)),
    );
    const handedIn = arrivals.map((message) => run.receive(message));
    await Promise.all(handedIn);
    await until(() => expect(line.sent).toHaveLength(1000));

    for (let chat = 0; chat < 50; chat++) {
      expect(handled.get(jid(4915000 + chat))).toEqual(words);
      expect(line.texts(jid(4915000 + chat))).toEqual(words.map((word) => `re: ${word}`));
    }
    expect(most).toBeGreaterThan(10);
  });

  it("does not hold up the others when its answerer hangs", async () => {
    const stuck: Answerer = {
      ...echo(),
      answer: (stored, asked) =>
        stored.message.text === "hang" ? new Promise(() => undefined) : echo().answer(stored, asked),
    };
    const run = await startPipeline({ answerers: [stuck] });
    const line = scriptedLine();
    await run.connect(line);
    for (let chat = 0; chat < 100; chat++) await run.receive(text(4915000 + chat, "hang"));

    await run.receive(text(4916000, "hello"));

    await until(() => expect(line.texts()).toEqual(["re: hello"]));
  });
});

describe("a message", () => {
  it("is stored once, however often it arrives", async () => {
    const run = await startPipeline();
    const line = scriptedLine();
    await run.connect(line);
    const message = text(4915001, "hello");

    await Promise.all([
      run.receive(message),
      run.receive(message, text(4915001, "next")),
      run.receive(message),
    ]);

    await until(() => expect(line.texts()).toEqual(["re: hello", "re: next"]));
  });

  it("costs two commits from arrival to answered, T1 and T2; T3 joins another", async () => {
    let commits = 0;
    const run = await startPipeline({
      wrap: (store) => ({
        ...store,
        writer: { ...store.writer, commit: (statements) => (commits++, store.writer.commit(statements)) },
      }),
    });
    const line = scriptedLine();
    await run.connect(line);
    commits = 0;

    await run.receive(text(4915001, "hello"));
    await until(async () => expect(await run.undecided()).toBe(0));
    await until(() => expect(line.sent).toHaveLength(1));
    await until(async () =>
      expect(await run.outbox.find(ACCOUNT, line.sent[0]!.waId)).toMatchObject({ state: "sent" }),
    );

    expect(commits).toBe(2);
  });

  it("of a group is answered in the group, and its writer alone when the answerer wants that", async () => {
    const group = "1203@g.us";
    const run = await startPipeline({
      answerers: [
        {
          ...echo(),
          answer: async (stored) => ({
            ...saying(stored, "to all"),
            replies: [
              { jid: group, draft: { kind: "text" as const, text: "to all" } },
              { jid: "77@lid", draft: { kind: "text" as const, text: "to you" } },
            ],
          }),
        },
      ],
    });
    const line = scriptedLine();
    await run.connect(line);

    await run.receive(
      text(4915001, "hi", {
        chat: group,
        chatKey: group,
        chatKind: "group",
        participant: "77@lid",
        lid: "77@lid",
      }),
    );

    await until(() => expect(line.sent).toHaveLength(2));
    const rows = await rawRows(run.store, "SELECT jid, chat, number FROM outbox ORDER BY id", []);
    expect(rows.map(({ jid, chat, number }) => [jid, chat, number])).toEqual([
      [group, group, group],
      ["77@lid", jid(4915001), "4915001"],
    ]);
  });
});

describe("answerers", () => {
  it("are asked in order until one does not pass, and those after it are told who answered", async () => {
    const first = witness();
    const last = witness();
    const run = await startPipeline({ answerers: [first.answerer, echo(), last.answerer] });
    await run.connect(scriptedLine());
    const message = text(4915001, "hello");

    await run.receive(message);

    await until(() => expect(last.told).toEqual(["hello"]));
    expect(first.asked).toEqual(["hello"]);
    expect(first.forwarded).toEqual([]);
    expect(last.asked).toEqual([]);
    expect(last.forwarded).toEqual([{ text: "hello", handledBy: "bot:echo" }]);
    expect(await run.decision(message.id)).toMatchObject({ by: "bot:echo", route: "fallback", guard: null });
  });

  it("that throw have said nothing: the next is asked, and the decision says so without the error's text", async () => {
    const broken: Answerer = {
      ...echo(),
      answer: async (stored) => {
        throw new RangeError(`cannot read ${stored.message.text}`);
      },
    };
    const next = witness();
    const run = await startPipeline({ answerers: [broken, next.answerer] });
    const message = text(4915001, "private words");

    await run.receive(message);

    await until(() => expect(next.asked).toEqual(["private words"]));
    await until(async () =>
      expect((await run.decision(message.id))?.trail).toEqual([
        { by: "bots", outcome: "failed", detail: "RangeError" },
      ]),
    );
  });

  it("have the statements of every answer committed with the message, those of who passed as well", async () => {
    const ids: string[][] = [];
    const passing = witness(() => ({ kind: "pass", trail: [], statements: [note("passed")] }));
    const run = await startPipeline({
      answerers: [
        passing.answerer,
        {
          ...echo(),
          answer: async (stored) => ({
            ...saying(stored, "a", "b"),
            statements: [note("answered")],
            onReplies: (waIds) => (ids.push(waIds), [note("replied")]),
          }),
        },
      ],
    });
    const line = scriptedLine();
    await run.connect(line);

    await run.receive(text(4915001, "hello"));

    await until(() => expect(line.sent).toHaveLength(2));
    const keys = (await rawRows(run.store, "SELECT key FROM meta", [])).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(["passed", "answered", "replied"]));
    expect(ids).toEqual([line.sent.map(({ waId }) => waId)]);
  });

  it("whose statements the database refuses lose their answer, and the lane goes on", async () => {
    let broken = true;
    const run = await startPipeline({
      answerers: [
        {
          ...echo(),
          answer: async (stored) => ({
            ...saying(stored, `re: ${stored.message.text}`),
            statements: broken
              ? [{ sql: "INSERT INTO meta (key, value) VALUES (NULL, NULL)", args: [] }]
              : [],
          }),
        },
      ],
    });
    const line = scriptedLine();
    await run.connect(line);
    const first = text(4915001, "first");
    await run.receive(first);
    await until(async () =>
      expect(await run.decision(first.id)).toMatchObject({
        by: null,
        trail: [
          { outcome: "answered" },
          { by: "bot:echo", outcome: "failed", detail: "ConstraintViolation" },
        ],
      }),
    );
    broken = false;

    await run.receive(text(4915001, "second"));

    await until(() => expect(line.texts()).toEqual(["re: second"]));
  });

  it("are not asked for the next message of a chat before the webhook was told of the one before", async () => {
    const release: (() => void)[] = [];
    const asked: string[] = [];
    const bot: Answerer = {
      ...echo(),
      answer: async (stored) => (asked.push(stored.message.text), saying(stored, "ok")),
    };
    const always: Answerer = {
      ...witness().answerer,
      forward: () => ({ statements: [], afterCommit: () => new Promise((resolve) => release.push(resolve)) }),
    };
    const run = await startPipeline({ answerers: [bot, always] });
    await run.connect(scriptedLine());

    await run.receive(text(4915001, "one"), text(4915001, "two"));
    await until(() => expect(release).toHaveLength(1));
    await rest();
    expect(asked).toEqual(["one"]);
    release[0]!();

    await until(() => expect(asked).toEqual(["one", "two"]));
  });
});
