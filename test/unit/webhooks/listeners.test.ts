import { describe, expect, it, onTestFinished } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import { eraseRecord } from "../../../src/store/erase.ts";
import type { ListenerInput } from "../../../src/webhooks/listeners/listeners.ts";
import { rawRows } from "../store/rows.ts";
import { clock, DEVICE, gateway, receiver, status, storeWithNumber, type Gateway } from "./gateway.ts";

const ANA = "4915100000001";
const BEN = "4915100000002";
const dm = (number: string) => ({
  chat: `${number}@s.whatsapp.net`,
  chatKey: `${number}@s.whatsapp.net`,
  sender: `${number}@s.whatsapp.net`,
  number,
});

const add = async ({ webhooks }: Gateway, url: string, more: ListenerInput = {}) => {
  const settings = { events: ["message" as const], chats: null, bots: null, headers: {}, enabled: true };
  const { listener } = await webhooks.listeners.create(DEVICE, { ...settings, url, ...more });
  return listener.id;
};

/** Answers every message as this bot. */
const bot = (id: string, takes: (text: string) => boolean = () => true): Answerer => ({
  name: "bots",
  ignoresTakeover: false,
  answer: async ({ message }) =>
    takes(message.text)
      ? { kind: "answer", by: `bot:${id}`, route: null, replies: [], trail: [] }
      : { kind: "pass", trail: [] },
});

const idsOf = (posts: { event: Record<string, unknown> }[]): unknown[] =>
  posts.map(({ event }) => event["id"]);

describe("a listener", () => {
  it("is told of every message, whoever answers it, and its own answers are ignored", async () => {
    const [hook, one, two] = [await receiver(), await receiver(), await receiver()];
    hook.answer(status(200, { message: "from the webhook" }));
    one.answer(status(200, { message: "from a listener", hold: 600 }));
    const bots = ["menu", "shop"].map((id) => bot(id, (text) => text === id));
    const g = await gateway(await storeWithNumber(), { before: bots });
    await g.configure(hook.url);
    await add(g, one.url);
    await add(g, two.url, { bots: ["menu"] });
    const asked = await g.receive({ ...dm(ANA), id: "A1", text: "menu" });
    const bought = await g.receive({ ...dm(ANA), id: "A2", text: "shop" });
    const other = await g.receive({ ...dm(ANA), id: "A3", text: "hello" });

    await expect.poll(() => idsOf(one.posts)).toEqual([asked.id, bought.id, other.id]);
    await expect.poll(() => idsOf(two.posts)).toEqual([asked.id]);
    expect(idsOf(hook.posts)).toEqual([other.id]);
    expect(one.posts.map(({ event }) => event["handled_by"])).toEqual(["bot:menu", "bot:shop", null]);
    await expect.poll(async () => (await g.sent()).map(({ text }) => text)).toEqual(["from the webhook"]);
    // Each of its own: id and signature.
    const [hooks, listens] = [hook.posts[0]!.headers, one.posts[2]!.headers];
    expect(hooks["webhook-id"]).not.toBe(listens["webhook-id"]);
    await expect
      .poll(async () => (await g.deliveries()).filter(({ state }) => state === "delivered").length)
      .toBe(5);
    const named = (await g.deliveries()).filter(({ listener }) => listener !== null);
    expect(named).toHaveLength(4);
    expect(named.every(({ reply }) => reply === null)).toBe(true);
  });

  it("hears of the chats that it is for, by number, LID and group, and of its events", async () => {
    const [people, group, edits] = [await receiver(), await receiver(), await receiver()];
    const g = await gateway(await storeWithNumber());
    await add(g, people.url, { chats: ["4915100000001", "44*", "9*@lid"] });
    await add(g, group.url, { chats: ["120363*@g.us"] });
    await add(g, edits.url, { events: ["edit", "own"] });
    await g.receive({ ...dm(ANA), id: "A1" });
    await g.receive({ ...dm(BEN), id: "B1" });
    await g.receive({ ...dm("4477000001"), id: "C1" });
    await g.receive({
      chat: "98765@lid",
      chatKey: "98765@lid",
      sender: "98765@lid",
      number: null,
      lid: "98765@lid",
      id: "D1",
    });
    await g.receive({
      ...dm(BEN),
      chat: "120363000001@g.us",
      chatKey: "120363000001@g.us",
      chatKind: "group",
      id: "G1",
    });
    await g.receive({ ...dm(ANA), id: "E1", type: "edit", targetId: "A1" });
    await g.receive({ ...dm(ANA), id: "O1", fromMe: true });

    await expect.poll(() => idsOf(people.posts).toSorted()).toEqual(["A1", "C1", "D1"]);
    await expect.poll(() => idsOf(group.posts)).toEqual(["G1"]);
    await expect.poll(() => idsOf(edits.posts)).toEqual(["E1", "O1"]);
  });

  it("that is dead delays neither the webhook nor another listener, and gets all in order when it is back", async () => {
    const [hook, dead, alive] = [await receiver(), await receiver(), await receiver()];
    // It hangs, then refuses.
    dead.answer(() => undefined);
    const g = await gateway(await storeWithNumber());
    await g.configure(hook.url);
    const id = await add(g, dead.url, { timeoutMs: 1_000 });
    await add(g, alive.url);
    const sent = Array.from({ length: 40 }, (_, n) => `M${String(n).padStart(2, "0")}`);
    for (const [n, message] of sent.entries())
      await g.receive({ ...dm(n % 2 === 0 ? ANA : BEN), id: message });
    await expect.poll(() => [hook.posts.length, alive.posts.length]).toEqual([40, 40]);
    expect(dead.posts.length).toBeLessThan(10);

    dead.answer(status(503));
    const health = async () =>
      (await g.webhooks.listeners.list(DEVICE)).map(({ health: { state } }) => state);
    // By its breaker, of which the webhook and the other one know nothing.
    await expect.poll(health, { timeout: 30_000 }).toEqual(["paused", "ok"]);
    expect((await g.webhooks.get(DEVICE))!.health.state).toBe("ok");
    await g.receive({ ...dm(ANA), id: "M40" });
    await expect.poll(() => [hook.posts.length, alive.posts.length]).toEqual([41, 41]);

    dead.posts.length = 0;
    dead.answer(status(200));
    await g.webhooks.listeners.change(DEVICE, id, {});
    await expect.poll(() => dead.posts.length, { timeout: 30_000 }).toBe(41);
    const ofChat = (odd: number): unknown[] =>
      idsOf(dead.posts).filter((one) => Number(String(one).slice(1)) % 2 === odd);
    for (const odd of [0, 1]) expect(ofChat(odd)).toEqual(ofChat(odd).toSorted());
  });

  it("hears of everything at once while the webhook is away", async () => {
    const [hook, one] = [await receiver(), await receiver()];
    hook.answer((response) => response.destroy());
    const g = await gateway(await storeWithNumber());
    await g.configure(hook.url, { events: ["message", "device"] });
    await add(g, one.url, { events: ["message", "device"] });
    for (const id of ["A1", "A2", "A3"]) await g.receive({ ...dm(ANA), id });
    await expect.poll(() => idsOf(one.posts)).toEqual(["A1", "A2", "A3"]);
    const states = ({ posts }: typeof hook): unknown[] =>
      posts.filter(({ event }) => event["type"] === "device").map(({ event }) => event["state"]);
    await g.moved("connecting", 1);
    await expect.poll(() => states(hook)).toEqual(["connecting"]);
    await g.moved("connected", 2);
    await expect.poll(() => states(one)).toEqual(["connecting", "connected"]);
    const done = (await g.deliveries()).filter(({ state }) => state === "delivered");
    expect(done.every(({ listener }) => listener !== null)).toBe(true);
  });

  it("loses nothing in a restart: what waits for it is posted by the next run, under its id", async () => {
    const store = await storeWithNumber();
    const one = await receiver();
    one.answer((response) => response.destroy());
    const before = await gateway(store);
    await add(before, one.url);
    await before.receive({ ...dm(ANA), id: "A1" });
    await before.receive({ ...dm(ANA), id: "A2" });
    await expect.poll(() => one.posts.length).toBeGreaterThan(0);
    await before.stop();
    const tried = one.posts[0]!.headers["webhook-id"];
    one.posts.length = 0;
    one.answer(status(200));
    const g = await gateway(store);
    await expect.poll(() => idsOf(one.posts), { timeout: 15_000 }).toEqual(["A1", "A2"]);
    expect(one.posts[0]!.headers["webhook-id"]).toBe(tried);
    await expect
      .poll(async () => (await g.deliveries()).map(({ state }) => state))
      .toEqual(["delivered", "delivered"]);
  });

  it("that answers 410 is switched off alone; set again, it is told of what comes then", async () => {
    const [gone, other] = [await receiver(), await receiver()];
    gone.answer(status(410));
    const store = await storeWithNumber();
    const g = await gateway(store);
    const id = await add(g, gone.url);
    await add(g, other.url);
    await g.receive({ ...dm(ANA), id: "A1" });
    const stateOf = async () => (await g.webhooks.listeners.list(DEVICE)).map(({ health }) => health.state);
    await expect.poll(stateOf).toEqual(["disabled", "ok"]);
    const rows = await rawRows(store, "select id from listeners where enabled = 0", []);
    expect(rows.map((row) => row["id"])).toEqual([id]);
    await g.receive({ ...dm(ANA), id: "A2" });
    await expect.poll(() => idsOf(other.posts)).toEqual(["A1", "A2"]);
    gone.answer(status(200));
    await g.webhooks.listeners.change(DEVICE, id, { enabled: true });
    await g.receive({ ...dm(ANA), id: "A3" });
    await expect.poll(() => idsOf(gone.posts)).toEqual(["A1", "A3"]);
    expect(g.turns).toEqual([]);
  });

  it("that is removed gets nothing more: what waited for it ends, also where the commit of that was the last", async () => {
    const store = await storeWithNumber();
    const one = await receiver();
    one.answer((response) => response.destroy());
    const g = await gateway(store);
    const id = await add(g, one.url);
    await g.receive({ ...dm(ANA), id: "A1" });
    await expect.poll(async () => (await g.deliveries())[0]?.state).toBe("retrying");
    expect(await g.webhooks.listeners.remove(DEVICE, id)).toBe(true);
    expect(await g.webhooks.listeners.remove(DEVICE, id)).toBe(false);
    expect((await g.deliveries()).map(({ state }) => state)).toEqual(["disabled"]);

    // As a process leaves it that is killed between both commits.
    await store.writer.commit([{ sql: "update deliveries set state = 'retrying', next_at = 1", args: [] }]);
    await g.stop();
    const next = await gateway(store);
    await expect.poll(async () => (await next.deliveries()).map(({ state }) => state)).toEqual(["disabled"]);
  });

  it("goes with its number's record, in one commit", async () => {
    const store = await storeWithNumber();
    const g = await gateway(store);
    await add(g, (await receiver()).url);
    await store.writer.commit(eraseRecord(DEVICE, store.now()));
    expect(await rawRows(store, "select id from listeners", [])).toEqual([]);
  });

  it("is one of five: a sixth is refused, also when two are made at once", async () => {
    const one = await receiver();
    const g = await gateway(await storeWithNumber());
    for (let n = 0; n < 4; n++) await add(g, one.url);
    const made = await Promise.allSettled([add(g, one.url), add(g, one.url)]);
    expect(made.map(({ status: how }) => how).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(add(g, one.url)).rejects.toMatchObject({ code: "PLAN_LIMIT" });
    expect(await g.webhooks.listeners.list(DEVICE)).toHaveLength(5);
  });

  it("lies sealed in its row, and signs with both secrets for a day after a rotation", async () => {
    const time = clock();
    const store = await storeWithNumber(time.now);
    const one = await receiver();
    const g = await gateway(store);
    const id = await add(g, `${one.url}?key=hidden-key`, {
      headers: { "x-token": "hidden-token" },
      chats: ["4915*"],
    });
    const [row] = await rawRows(store, "select * from listeners", []);
    for (const hidden of ["hidden-key", "hidden-token", "4915", "whsec_"])
      expect(
        JSON.stringify(
          Object.values(row!).map((value) =>
            value instanceof ArrayBuffer ? Buffer.from(value).toString("latin1") : value,
          ),
        ),
      ).not.toContain(hidden);
    const signatures = async (): Promise<number> => {
      const { length } = one.posts;
      await g.receive({ ...dm(ANA), id: `S${length}` });
      await expect.poll(() => one.posts.length).toBe(length + 1);
      return String(one.posts.at(-1)!.headers["webhook-signature"]).split(" ").length;
    };
    expect(await signatures()).toBe(1);
    await g.webhooks.listeners.rotate(DEVICE, id);
    expect(await signatures()).toBe(2);
    time.forward(25 * 3_600_000);
    expect(await signatures()).toBe(1);
    expect(one.posts[0]!.headers["x-token"]).toBe("hidden-token");
  });

  it("has replays of its own", async () => {
    const [hook, one] = [await receiver(), await receiver()];
    const g = await gateway(await storeWithNumber());
    onTestFinished(() => g.stop());
    await g.configure(hook.url);
    const id = await add(g, one.url);
    await g.receive({ ...dm(ANA), id: "A1" });
    await expect
      .poll(async () => (await g.deliveries()).filter(({ state }) => state === "delivered").length)
      .toBe(2);
    const own = (await g.deliveries()).find(({ listener }) => listener === id)!;
    await g.webhooks.deliveries.replay("acc1", own.id);
    await expect.poll(() => one.posts.length).toBe(2);
    await g.webhooks.listeners.change(DEVICE, id, { enabled: false });
    await expect(g.webhooks.deliveries.replay("acc1", own.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await g.webhooks.deliveries.replayMany({ deviceIds: [DEVICE], state: "delivered" })).toBe(1);
    await expect.poll(() => hook.posts.length).toBe(2);
    expect(one.posts).toHaveLength(2);
  });
});
