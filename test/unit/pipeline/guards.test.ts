import { describe, expect, it } from "vitest";
import { begunFolder } from "../store/temporary.ts";
import { DEVICE, jid, manualClock, OWN_NUMBER, rest, scriptedLine, until } from "../outbox/harness.ts";
import { echo, saying, startPipeline, text, typed, witness, type PipelineOptions } from "./harness.ts";

const MINUTE = 60_000;

/** A bot that answers everything, then a webhook that is told of what it may not answer, under a clock that stands. */
async function startGuarded({ replyMaxAge, ...options }: PipelineOptions & { replyMaxAge?: number } = {}) {
  const clock = manualClock();
  const webhook = witness((stored) => ({
    ...saying(stored, `webhook: ${stored.message.text}`),
    by: "webhook",
  }));
  const run = await startPipeline({ clock, answerers: [echo(), webhook.answerer], ...options });
  // A webhook that is asked after the test's own.
  if (replyMaxAge !== undefined)
    await run.path.webhooks.put(DEVICE, { url: "https://example.com/hook", replyMaxAge });
  const line = scriptedLine();
  await run.connect(line);
  const at = (more = 0): { timestamp: number } => ({ timestamp: Math.floor(clock.now() / 1000) + more });
  const decided = async (waId: string) => {
    await until(async () => expect(await run.decision(waId)).not.toBeNull());
    await rest();
    return run.decision(waId);
  };
  return { run, line, clock, webhook, at, decided };
}

describe("what is not answered", () => {
  it("is the echo of our own message: nobody is told", async () => {
    const { run, line, webhook, at, decided } = await startGuarded();
    await run.receive(text(4915001, "hello", at()));
    await until(() => expect(line.sent).toHaveLength(1));
    const echoed = typed(4915001, "re: hello", { id: line.sent[0]!.waId, ...at() });

    await run.receive(echoed);

    expect(await decided(echoed.id)).toMatchObject({ by: null, guard: "own" });
    expect(webhook.forwarded).toEqual([{ text: "hello", handledBy: "bot:echo" }]);
    await run.receive(text(4915001, "again", at()));
    await until(() => expect(line.texts()).toEqual(["re: hello", "re: again"]));
  });

  it("is our own post that a channel brings back, which names no writer: nobody is told", async () => {
    const { run, line, webhook, at, decided } = await startGuarded();
    const channel = { chat: "120363@newsletter", chatKey: "120363@newsletter", sender: "120363@newsletter" };
    const post = (words: string, more = {}) =>
      text("120363", words, {
        ...channel,
        chatKind: "channel",
        type: "channel",
        number: null,
        ...at(),
        ...more,
      });
    await run.receive(post("news"));
    await until(() => expect(line.sent).toHaveLength(1));

    const echoed = post("re: news", { id: line.sent[0]!.waId });
    await run.receive(echoed);

    expect(await decided(echoed.id)).toMatchObject({ by: null, guard: "own" });
    expect(webhook.forwarded).toHaveLength(1);
    expect(line.sent).toHaveLength(1);
  });

  it("is what the owner typed on the phone; the webhook hears of it", async () => {
    const { run, line, webhook, at, decided } = await startGuarded();
    const message = typed(4915001, "I am here", at());

    await run.receive(message);

    expect(await decided(message.id)).toMatchObject({ by: null, guard: "owner" });
    expect(webhook.told).toEqual(["I am here"]);
    expect(line.sent).toEqual([]);
  });

  it("is a status broadcast, the owner's own included: nobody is told", async () => {
    const { run, line, webhook, at, decided } = await startGuarded();
    const status = {
      chat: "status@broadcast",
      chatKey: "status@broadcast",
      chatKind: "status" as const,
      ...at(),
    };
    const messages = [text(4915001, "on holiday", status), typed(4915001, "sale", status)];

    await run.receive(...messages);

    for (const { id } of messages) expect(await decided(id)).toMatchObject({ by: null, guard: "status" });
    expect(webhook.forwarded).toEqual([]);
    expect(line.sent).toEqual([]);
  });

  it("is older than reply_max_age; it is stored and the webhook hears of it", async () => {
    const { run, line, webhook, at, decided } = await startGuarded({ replyMaxAge: 600 });
    const late = text(4915001, "late", at(-601));
    const inTime = text(4915002, "in time", at(-600));

    await run.receive(late, inTime);

    expect(await decided(late.id)).toMatchObject({ by: null, guard: "too_old" });
    expect(await decided(inTime.id)).toMatchObject({ by: "bot:echo", guard: null });
    expect(line.texts()).toEqual(["re: in time"]);
    expect(webhook.forwarded).toContainEqual({ text: "late", handledBy: null });
  });

  it("is measured by the host's clock, however far WhatsApp's is ahead of it or behind", async () => {
    const { run, line, at, decided } = await startGuarded({ replyMaxAge: 600 });
    const hours = 3 * 3600;
    const behind = text(4915001, "behind", { ...at(-hours), clockAhead: -hours });
    const ahead = text(4915002, "ahead", { ...at(hours), clockAhead: hours });
    const lateAhead = text(4915003, "late", { ...at(hours - 601), clockAhead: hours });

    await run.receive(behind, ahead, lateAhead);

    expect(await decided(behind.id)).toMatchObject({ by: "bot:echo", guard: null });
    expect(await decided(ahead.id)).toMatchObject({ by: "bot:echo", guard: null });
    expect(await decided(lateAhead.id)).toMatchObject({ by: null, guard: "too_old" });
    await until(() => expect(line.texts().toSorted()).toEqual(["re: ahead", "re: behind"]));
  });

  it("is too old once the answer is there, though it was not when it was asked for", async () => {
    const clock = manualClock();
    const ids: string[][] = [];
    const slow = {
      ...echo(),
      answer: async (stored: Parameters<ReturnType<typeof echo>["answer"]>[0]) => {
        await clock.advance(20 * MINUTE);
        return { ...saying(stored, "too late"), onReplies: (waIds: string[]) => (ids.push(waIds), []) };
      },
    };
    const { run, line, decided } = await startGuarded({ clock, answerers: [slow], replyMaxAge: 600 });
    const message = text(4915001, "hello", { timestamp: Math.floor(clock.now() / 1000) });

    await run.receive(message);

    expect(await decided(message.id)).toMatchObject({ guard: "too_old" });
    expect(line.sent).toEqual([]);
    expect(ids).toEqual([[]]);
  });
});

describe("takeover", () => {
  it("silences bots in that chat for TAKEOVER_MINUTES, not the webhook, and no other chat", async () => {
    const { run, line, clock, at, decided } = await startGuarded({ env: { TAKEOVER_MINUTES: "30" } });
    await run.receive(typed(4915001, "let me help", at()));
    const during = text(4915001, "during", at());
    await run.receive(during, text(4915002, "elsewhere", at()));
    await until(() => expect(line.texts().sort()).toEqual(["re: elsewhere", "webhook: during"]));
    expect(await decided(during.id)).toMatchObject({
      by: "webhook",
      guard: "takeover",
      trail: [
        { by: "guard:takeover", outcome: "held" },
        { by: "conversations", outcome: "not_asked", detail: "takeover" },
        // The gateway's own, which has none here, and the test's.
        { by: "bots", outcome: "not_asked", detail: "takeover" },
        { by: "bots", outcome: "not_asked", detail: "takeover" },
        { outcome: "answered" },
      ],
    });

    await clock.advance(30 * MINUTE);
    await run.receive(text(4915001, "afterwards", at()));

    await until(() => expect(line.texts()).toContain("re: afterwards"));
  });

  it("counts from when the owner wrote, survives a restart, and is not begun by a reaction", async () => {
    const folder = await begunFolder();
    const clock = manualClock();
    const before = await startGuarded({ folder, clock, env: { TAKEOVER_MINUTES: "30" } });
    const now = Math.floor(clock.now() / 1000);
    await before.run.receive(
      typed(4915001, "a while ago", { timestamp: now - 20 * 60 }),
      typed(4915002, "👍", { timestamp: now, type: "reaction" }),
      typed(4915003, "long ago", { timestamp: now - 40 * 60 }),
    );
    await until(async () => expect(await before.run.undecided()).toBe(0));
    await before.run.close();

    const { run, line } = await startGuarded({ folder, clock, env: { TAKEOVER_MINUTES: "30" } });
    const timestamp = Math.floor(clock.now() / 1000);
    await run.receive(...[1, 2, 3].map((chat) => text(4915000 + chat, "hello", { timestamp })));
    await until(() => expect(line.sent).toHaveLength(3));
    expect(line.texts(jid(4915001))).toEqual(["webhook: hello"]);
    expect(line.texts(jid(4915002))).toEqual(["re: hello"]);
    expect(line.texts(jid(4915003))).toEqual(["re: hello"]);
    await clock.advance(10 * MINUTE);
    await run.receive(text(4915001, "again", { timestamp: Math.floor(clock.now() / 1000) }));

    await until(() => expect(line.texts(jid(4915001))).toEqual(["webhook: hello", "re: again"]));
  });
});

describe("the loop guard", () => {
  it("mutes a chat for ten minutes once it got its replies of a minute; messages are forwarded all the same", async () => {
    const { run, line, clock, webhook, at, decided } = await startGuarded({
      env: { LOOP_GUARD_PER_MINUTE: "3" },
    });
    const ping = async (from: number): Promise<ReturnType<typeof decided>> => {
      const message = text(from, "ping", at());
      await run.receive(message);
      return decided(message.id);
    };
    for (let turn = 0; turn < 3; turn++) expect(await ping(4915001)).toMatchObject({ by: "bot:echo" });

    expect(await ping(4915001)).toMatchObject({ by: null, guard: "loop_guard" });
    expect(await ping(4915002)).toMatchObject({ by: "bot:echo" });
    await clock.advance(10 * MINUTE - 1);
    expect(await ping(4915001)).toMatchObject({ by: null, guard: "muted" });
    await clock.advance(1);
    expect(await ping(4915001)).toMatchObject({ by: "bot:echo" });

    expect(line.texts(jid(4915001))).toHaveLength(4);
    expect(webhook.forwarded.filter(({ handledBy }) => handledBy === null)).toHaveLength(2);
  });

  it("lets a chat have as many as it likes over a longer time, and is off at 0", async () => {
    const { run, line, clock, at } = await startGuarded({ env: { LOOP_GUARD_PER_MINUTE: "2" } });
    for (let turn = 1; turn <= 4; turn++) {
      await run.receive(text(4915001, "ping", at()));
      await until(() => expect(line.sent).toHaveLength(turn));
      await clock.advance(31_000);
    }
    const off = await startGuarded({ env: { LOOP_GUARD_PER_MINUTE: "0" } });

    for (let turn = 0; turn < 40; turn++) await off.run.receive(text(4915001, "ping", off.at()));

    await until(() => expect(off.line.sent).toHaveLength(40));
  });
});

describe("a group that the owner writes in", () => {
  it("is taken over as a whole", async () => {
    const { run, line, at } = await startGuarded();
    const group = { chat: "1203@g.us", chatKey: "1203@g.us", chatKind: "group" as const, ...at() };
    await run.receive(typed(OWN_NUMBER, "hi all", group));

    await run.receive(text(4915001, "hello", group));

    await until(() => expect(line.texts("1203@g.us")).toEqual(["webhook: hello"]));
  });
});
