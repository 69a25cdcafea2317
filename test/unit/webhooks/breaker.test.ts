import { describe, expect, it, vi } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { Store } from "../../../src/store/store.ts";
import {
  clock,
  DEVICE,
  gateway,
  receiver,
  status,
  storeWithNumber,
  type Clock,
  type Gateway,
  type Receiver,
} from "./gateway.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

interface Scene {
  store: Store;
  time: Clock;
  shop: Receiver;
  parley: Gateway;
  restart(): Promise<void>;
}

async function scene(options: Parameters<typeof gateway>[1] = {}): Promise<Scene> {
  const time = clock();
  const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
  const made: Scene = {
    store,
    time,
    shop,
    parley: await gateway(store, options),
    async restart() {
      await made.parley.stop();
      made.parley = await gateway(store, options);
    },
  };
  await made.parley.configure(shop.url);
  return made;
}

const health = async ({ parley }: Scene) => (await parley.webhooks.get(DEVICE))!.health;
const decided = ({ parley }: Scene, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(count));
const say = ({ parley }: Scene, chat: string, text: string) =>
  parley.receive({ text, chat: `${chat}@lid`, chatKey: `${chat}@lid` });
const textsOf = (shop: Receiver): unknown[] => shop.posts.map(({ event }) => event.text);

/** So many messages, each in a chat of its own, whose first attempt fails. */
async function fail(made: Scene, count: number, behaviour = status(503)): Promise<void> {
  made.shop.answer(behaviour);
  const before = (await made.parley.decisions()).length;
  for (let i = 0; i < count; i++) await say(made, `lost${before + i}`, `lost ${before + i}`);
  await decided(made, before + count);
}

/** Second attempts that were planned are not made: on a slow machine they would come in between. */
const forgetDeliveries = ({ store }: Scene) =>
  store.writer.commit([{ sql: "update deliveries set state = 'dead', next_at = null", args: [] }]);

/** Ten failures long ago: their second attempts are over, so that nothing else moves. */
async function paused(options: Parameters<typeof gateway>[1] = {}, behaviour = status(503)): Promise<Scene> {
  const made = await scene(options);
  await fail(made, 10, behaviour);
  await forgetDeliveries(made);
  made.shop.posts.length = 0;
  return made;
}

/** The pause is over; a message makes somebody look. */
async function afterThePause(made: Scene): Promise<void> {
  made.time.forward((await health(made)).pausedUntil! - made.time.now() + 1);
  await say(made, "late", "what came last");
}

const bot: Answerer = {
  name: "bots",
  ignoresTakeover: false,
  answer: async ({ message }) =>
    message.text === "menu"
      ? {
          kind: "answer",
          by: "bot:menu",
          route: null,
          replies: [{ jid: message.chat, draft: { kind: "text", text: "the menu" } }],
          trail: [],
        }
      : { kind: "pass", trail: [] },
};

describe("an endpoint that failed ten times in a row", () => {
  it("is posted nothing more: messages wait without an attempt, chats and bots go on", async () => {
    const made = await scene({ before: [bot] });
    await fail(made, 9);
    expect(await health(made)).toMatchObject({ state: "failing", failures: 9, pausedUntil: null });
    await fail(made, 1);
    expect(await health(made)).toMatchObject({ state: "paused", failures: 10, reason: null });
    expect((await health(made)).pausedUntil! - made.time.now()).toBeGreaterThan(0);
    expect((await health(made)).pausedUntil! - made.time.now()).toBeLessThanOrEqual(10 * SECOND);

    // From now on it would hang for 15 s.
    made.shop.answer(() => undefined);
    await say(made, "ana", "question");
    await say(made, "ana", "menu");
    await decided(made, 12);
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["the menu"]);
    expect((await made.parley.decisions())[10]!.trail).toEqual([
      { by: "webhook", outcome: "not_asked", detail: expect.stringMatching(/waits/) },
    ]);
    const [waiting] = await made.parley.deliveries();
    expect(waiting).toMatchObject({ state: "retrying", attempts: [], reply: null });
    expect(textsOf(made.shop)).not.toContain("question");
    expect(made.parley.turns).toEqual([`${DEVICE} paused`]);
    expect(made.parley.logged()).toMatch(/the webhook keeps failing/);
  });

  it("still gets the second attempts that were planned before, and no third", async () => {
    const made = await scene({ random: () => 0 });
    await fail(made, 10);
    // 5 s less a fifth.
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(20));
    await vi.waitFor(async () => {
      const attempts = (await made.parley.deliveries()).map((delivery) => delivery.attempts.length);
      expect(attempts).toEqual(Array.from({ length: 10 }, () => 2));
    });
    expect(await health(made)).toMatchObject({ state: "paused", failures: 20 });
  });

  it("is not: one success between, or answers that are refusals", async () => {
    const made = await scene();
    await fail(made, 9);
    await forgetDeliveries(made);
    await fail(made, 1, status(200));
    expect(await health(made)).toMatchObject({ state: "ok", failures: 0, failingSince: null });
    await fail(made, 9);
    await forgetDeliveries(made);
    await fail(made, 12, status(404));
    expect(await health(made)).toMatchObject({ state: "failing", failures: 21 });
    expect(made.shop.posts).toHaveLength(31);
  });

  it("is tried again at once when the clock was set back by years", async () => {
    const made = await paused();
    made.shop.answer(status(200));
    made.time.forward(-3 * 365 * 24 * 3600 * SECOND);
    await say(made, "late", "what came last");
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(1));
    await vi.waitFor(async () => expect(await health(made)).toMatchObject({ state: "ok" }));
  });

  it("stays so over a restart, and its failures are counted on", async () => {
    const made = await scene();
    await fail(made, 6);
    await made.restart();
    await fail(made, 4);
    const before = await health(made);
    expect(before).toMatchObject({ state: "paused", failures: 10 });
    await made.restart();
    expect(await health(made)).toEqual(before);
    made.shop.posts.length = 0;
    await say(made, "ana", "question");
    await decided(made, 11);
    expect(made.shop.posts).toEqual([]);
  });
});

describe("when the pause is over", () => {
  it("one delivery is tried; what waited follows, oldest first in each chat, a few at a time, all answered once", async () => {
    const made = await paused();
    const chats = Array.from({ length: 8 }, (_, index) => `chat${index}`);
    for (let turn = 0; turn < 5; turn++) for (const chat of chats) await say(made, chat, `${chat} ${turn}`);
    await decided(made, 50);
    expect(made.shop.posts).toEqual([]);

    let atOnce = 0;
    let most = 0;
    let first: (() => void) | undefined;
    made.shop.answer((response, { event }) => {
      most = Math.max(most, ++atOnce);
      const end = (): void => {
        atOnce--;
        response.end(JSON.stringify({ message: `re ${String(event.text)}` }));
      };
      if (first) setImmediate(end);
      else first = end;
    });
    await afterThePause(made);
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(1));
    expect(textsOf(made.shop)).toEqual(["chat0 0"]);
    await decided(made, 51);
    expect(made.shop.posts).toHaveLength(1);
    first!();
    await vi.waitFor(async () => expect(await made.parley.sent()).toHaveLength(41));

    const said = textsOf(made.shop);
    for (const chat of chats)
      expect(said.filter((text) => String(text).startsWith(chat))).toEqual(
        Array.from({ length: 5 }, (_, turn) => `${chat} ${turn}`),
      );
    expect(new Set(said).size).toBe(41);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(16);
    expect(await health(made)).toMatchObject({ state: "ok", failures: 0 });
    expect(made.parley.turns).toEqual([`${DEVICE} paused`, `${DEVICE} ok`]);
  });

  it("is noticed when it ends while the worker looks around", async () => {
    const time = clock();
    const [whole, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
    let onLook = (): void => undefined;
    const read: Store["read"] = (query, args) => {
      // The worker's look at what of a number is due.
      if (args?.[2] === "[]") onLook();
      return whole.read(query, args);
    };
    const parley = await gateway({ ...whole, read });
    await parley.configure(shop.url);
    const made: Scene = { store: whole, time, shop, parley, restart: () => Promise.reject() };
    await fail(made, 10);
    await forgetDeliveries(made);
    shop.posts.length = 0;
    shop.answer(status(200));
    const { pausedUntil } = await health(made);
    const looked = new Promise<void>((resolve) => {
      onLook = () => {
        time.forward(Math.max(0, pausedUntil! - time.now()));
        resolve();
      };
    });
    await say(made, "ana", "question");
    await looked;
    // Long before the worker looks around anyhow, once a minute.
    await vi.waitFor(() => expect(textsOf(shop)).toEqual(["question"]), 30 * SECOND);
  });

  it("a message that comes while its chat's older ones are going out comes after them", async () => {
    const made = await paused();
    for (let turn = 0; turn < 3; turn++) await say(made, "ana", `${turn}`);
    await decided(made, 13);
    const held: (() => void)[] = [];
    made.shop.answer((response) => void held.push(() => response.end()));
    made.time.forward(MINUTE);
    await say(made, "ana", "3");
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]!();
    await vi.waitFor(() => expect(held).toHaveLength(2));
    // The breaker is closed; "1" is under way, "2" and "3" wait.
    await say(made, "ana", "4");
    await say(made, "bob", "other chat");
    await vi.waitFor(() => expect(textsOf(made.shop)).toContain("other chat"));
    // One after the other, although there is place for more.
    expect(textsOf(made.shop)).toEqual(["0", "1", "other chat"]);
    made.shop.answer((response) => response.end());
    for (const end of held.slice(1)) end();
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(6));
    expect(textsOf(made.shop).filter((text) => text !== "other chat")).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("what is worked off is no loop: every message of a chat is answered", async () => {
    const made = await paused({ loopGuardPerMinute: 2 });
    for (let turn = 0; turn < 5; turn++) await say(made, "ana", `${turn}`);
    await decided(made, 15);
    made.shop.answer((response, { event }) =>
      response.end(event.text === "what came last" ? "" : JSON.stringify({ message: `re ${event.text}` })),
    );
    await afterThePause(made);
    await vi.waitFor(async () => expect(await made.parley.sent()).toHaveLength(5));
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual([
      "re 0",
      "re 1",
      "re 2",
      "re 3",
      "re 4",
    ]);
  });

  it("and the endpoint still fails: one post, and a longer pause as the outage grows longer", async () => {
    const made = await paused();
    await say(made, "ana", "first");
    await say(made, "bob", "second");
    await decided(made, 12);
    const pauses: number[] = [];
    for (const outage of [10 * SECOND, 20 * MINUTE, 5 * 60 * MINUTE]) {
      made.time.forward(outage);
      const before = made.shop.posts.length;
      const { failures } = await health(made);
      await say(made, "cleo", "again");
      await vi.waitFor(async () => expect((await health(made)).failures).toBe(failures + 1));
      pauses.push(Math.round(((await health(made)).pausedUntil! - made.time.now()) / SECOND));
      expect(made.shop.posts).toHaveLength(before + 1);
    }
    expect(Math.abs(pauses[0]! - 10)).toBeLessThanOrEqual(2);
    expect(Math.abs(pauses[1]! - 121)).toBeLessThanOrEqual(3);
    expect(Math.abs(pauses[2]! - 300)).toBeLessThanOrEqual(2);
  });

  it("a delivery that is tried before its time has lost no attempt when it fails", async () => {
    const made = await paused();
    await say(made, "ana", "question");
    await decided(made, 11);
    const { id } = (await made.parley.deliveries())[0]!;
    const inAnHour = made.time.now() + 60 * MINUTE;
    await made.store.writer.commit([
      { sql: "update deliveries set next_at = ?, attempts = 3 where id = ?", args: [inAnHour, id] },
    ]);
    made.time.forward(MINUTE);
    await made.restart();
    await vi.waitFor(async () => expect((await health(made)).failures).toBe(11));
    expect((await made.parley.deliveries())[0]).toMatchObject({ id, nextAt: inAnHour, attempts: [] });

    made.shop.answer(status(200, { message: "back" }));
    made.time.forward(MINUTE);
    await made.restart();
    await vi.waitFor(async () => expect((await made.parley.sent())[0]?.text).toBe("back"));
    expect((await made.parley.deliveries())[0]).toMatchObject({ id, state: "delivered" });
  });

  it("what had failed before goes out as well, at once; what has few attempts left keeps its own times", async () => {
    const made = await scene();
    await fail(made, 10);
    const inAnHour = made.time.now() + 60 * MINUTE;
    await made.store.writer.commit([
      { sql: "update deliveries set next_at = ?, attempts = 3", args: [inAnHour] },
      { sql: "update deliveries set attempts = 6 where chat = 'lost4@lid'", args: [] },
    ]);
    made.shop.posts.length = 0;
    made.shop.answer(status(200));
    await afterThePause(made);
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(10));
    expect(textsOf(made.shop)).not.toContain("lost 4");
    await vi.waitFor(async () => {
      const kept = (await made.parley.deliveries()).filter(({ state }) => state !== "delivered");
      expect(kept).toMatchObject([{ state: "retrying", nextAt: inAnHour }]);
    });
  });

  it("an endpoint that breaks down again under what waited is let alone after three failures", async () => {
    const made = await paused();
    for (let i = 0; i < 30; i++) await say(made, `c${i}`, `${i}`);
    await decided(made, 40);
    made.shop.answer(status(200), status(200), status(503));
    await afterThePause(made);
    await vi.waitFor(() => expect(made.parley.turns).toHaveLength(3));
    expect(made.parley.turns.at(-1)).toBe(`${DEVICE} paused`);
    // Those that were under way when the third failed.
    expect(made.shop.posts.length).toBeLessThan(12);
  });
});

describe("who repaired the endpoint", () => {
  it.each([
    ["tests it", async (made: Scene) => void (await made.parley.webhooks.test(DEVICE))],
    ["sets it again", async (made: Scene) => void (await made.parley.configure(made.shop.url))],
    [
      "asks for what was given up",
      async (made: Scene) => void (await made.parley.webhooks.deliveries.replayMany({ deviceIds: [DEVICE] })),
    ],
  ])("and %s need not wait", async (_, act) => {
    // Nobody would try by himself for an hour.
    const made = await paused({}, status(503, "", { "retry-after": "3600" }));
    await say(made, "ana", "question");
    await decided(made, 11);
    made.shop.answer(status(200, { message: "here again" }));
    await act(made);
    await vi.waitFor(async () => expect((await made.parley.sent()).length).toBeGreaterThan(0));
    expect(textsOf(made.shop)).toContain("question");
    expect((await health(made)).state).toBe("ok");
  });

  it("does not make it worse by a test that fails", async () => {
    const made = await scene();
    await fail(made, 9);
    for (let i = 0; i < 3; i++) await made.parley.webhooks.test(DEVICE);
    expect(await health(made)).toMatchObject({ state: "failing", failures: 9 });
  });
});

describe("an endpoint that accepted nothing for five days", () => {
  it("is switched off, and what waits ends; set anew it works, and what ended can be asked for", async () => {
    const made = await paused();
    await say(made, "ana", "first");
    await decided(made, 11);
    made.time.forward(5 * DAY - MINUTE);
    await made.restart();
    await vi.waitFor(async () => expect((await health(made)).failures).toBe(11));
    expect((await health(made)).state).toBe("paused");

    await say(made, "bob", "second");
    await decided(made, 12);
    made.time.forward(10 * MINUTE);
    await made.restart();
    await vi.waitFor(async () =>
      expect(await health(made)).toMatchObject({ state: "disabled", reason: "failing" }),
    );
    await vi.waitFor(() => expect(made.parley.turns).toEqual([`${DEVICE} disabled`]));
    expect(made.parley.logged()).toMatch(/accepted nothing for five days/);
    const states = (await made.parley.deliveries()).slice(0, 2).map(({ state }) => state);
    expect(states).toEqual(["disabled", "disabled"]);
    await made.restart();
    expect(await health(made)).toMatchObject({ state: "disabled", reason: "failing" });

    made.shop.posts.length = 0;
    made.shop.answer(status(200));
    await made.parley.configure(made.shop.url);
    expect(await health(made)).toEqual({
      state: "ok",
      failures: 0,
      failingSince: null,
      pausedUntil: null,
      reason: null,
    });
    const { replayMany } = made.parley.webhooks.deliveries;
    expect(await replayMany({ deviceIds: [DEVICE], state: "disabled" })).toBe(2);
    await vi.waitFor(() => expect(textsOf(made.shop)).toEqual(["first", "second"]));
  });

  it("also when it refused each, but not for two refusals that lie far apart", async () => {
    const made = await scene();
    await fail(made, 1, status(404));
    made.time.forward(6 * DAY);
    await fail(made, 1, status(404));
    expect(await health(made)).toMatchObject({ state: "failing", failures: 2 });
    await fail(made, 8, status(404));
    expect(await health(made)).toMatchObject({ state: "disabled", reason: "failing" });
  });
});
