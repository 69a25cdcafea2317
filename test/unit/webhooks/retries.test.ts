import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import type { DeliveryRecord } from "../../../src/webhooks/index.ts";
import {
  ACCOUNT,
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
import { rawRows } from "../store/rows.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

interface Scene {
  store: Store;
  time: Clock;
  shop: Receiver;
  /** The gateway that runs now. */
  parley: Gateway;
  /** Ends it and starts it anew on the same database: what is due is done at once. */
  restart(): Promise<void>;
  delivery(): Promise<DeliveryRecord>;
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
    delivery: async () => (await made.parley.deliveries())[0]!,
  };
  return made;
}

/** A delivery whose first attempt failed. */
async function failedOnce(change: Parameters<Gateway["configure"]>[1] = {}): Promise<Scene> {
  const made = await scene();
  await made.parley.configure(made.shop.url, change);
  made.shop.answer(status(503));
  await made.parley.receive({ text: "question" });
  await attempts(made, 1);
  return made;
}

const attempts = (made: Scene, count: number): Promise<void> =>
  vi.waitFor(async () => expect((await made.delivery())?.attempts).toHaveLength(count));

const expectEnd = async (made: Scene): Promise<void> => {
  expect(await made.delivery()).toMatchObject({ state: "disabled", nextAt: null });
  made.time.forward(HOUR);
  await made.restart();
  await made.parley.receive({ text: "later" });
  await vi.waitFor(async () => expect(await made.parley.decisions()).toHaveLength(2));
  expect(made.shop.posts).toHaveLength(1);
};

const replay = async (made: Scene): Promise<void> => {
  const { id, attempts: before } = await made.delivery();
  expect(await made.parley.webhooks.deliveries.replay(ACCOUNT, id)).toMatchObject({ id, state: "pending" });
  await attempts(made, before.length + 1);
};

describe("a delivery that failed", () => {
  it("is tried ten times by the schedule, the same event under the same id, and is then dead", async () => {
    const made = await failedOnce();
    const pauses: number[] = [];
    for (let attempt = 2; attempt <= 10; attempt++) {
      const { nextAt, state } = await made.delivery();
      expect(state).toBe("retrying");
      pauses.push(Math.round((nextAt! - made.time.now()) / SECOND));
      made.time.forward(nextAt! - made.time.now());
      await made.restart();
      await attempts(made, attempt);
    }

    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * 3600);
    for (const [index, planned] of [5, 300, 1800, ...hours].entries()) {
      expect(Math.abs(pauses[index]! - planned)).toBeLessThanOrEqual(2);
    }
    expect(await made.delivery()).toMatchObject({ state: "dead", nextAt: null });
    expect(made.shop.posts).toHaveLength(10);
    expect(new Set(made.shop.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(made.shop.posts.map(({ body }) => body)).size).toBe(1);
    expect(new Set(made.shop.posts.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
  });

  it("is tried again without a restart", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const parley = await gateway(store, { random: () => 0 });
    await parley.configure(shop.url);
    shop.answer(status(503), status(200, { message: "second time lucky" }));
    await parley.receive();
    // 5 s less a fifth.
    await vi.waitFor(() => expect(shop.posts).toHaveLength(2));
    await vi.waitFor(async () => expect((await parley.sent())[0]?.text).toBe("second time lucky"));
  });

  it("waits as long as Retry-After says, when that is longer", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(429, "", { "retry-after": "120" }));
    await made.parley.receive();
    await attempts(made, 1);
    const { nextAt } = await made.delivery();
    expect(Math.abs(nextAt! - made.time.now() - 120 * SECOND)).toBeLessThan(20 * SECOND);
  });

  it("is answered by the later attempt, once, quoting the message", async () => {
    const made = await failedOnce();
    made.shop.answer(status(200, { message: "late but there", quoted: true }));
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);

    const sent = await made.parley.sent();
    const delivery = await made.delivery();
    expect(sent).toMatchObject([{ text: "late but there", quotes: delivery.messageId }]);
    expect(delivery).toMatchObject({
      state: "delivered",
      reply: { understood: true, ignored: [], ids: [sent[0]!.id] },
    });

    await made.restart();
    await made.parley.receive({ text: "next" });
    await vi.waitFor(async () => expect(await made.parley.decisions()).toHaveLength(2));
    expect(made.shop.posts.filter(({ event }) => event.text === "question")).toHaveLength(2);
  });

  it("is not answered any more after reply_max_age, and says so", async () => {
    const made = await failedOnce({ replyMaxAge: 60 });
    made.shop.answer(status(200, { message: "too late" }));
    made.time.forward(90 * SECOND);
    await made.restart();
    await attempts(made, 2);
    expect(await made.parley.sent()).toEqual([]);
    const ignored = [expect.stringMatching(/older than reply_max_age \(60 s\)/)];
    expect(await made.delivery()).toMatchObject({
      state: "delivered",
      reply: { understood: true, ignored, ids: [] },
    });
  });

  it("goes to the address that is configured by then", async () => {
    const made = await failedOnce();
    const elsewhere = await receiver();
    await made.parley.configure(elsewhere.url);
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);
    expect(elsewhere.posts).toHaveLength(1);
    expect((await made.delivery()).url).toBe(elsewhere.url);
  });

  it("an attempt that was cut off does not count and is made again at once", async () => {
    const made = await failedOnce();
    made.shop.answer(() => undefined);
    made.time.forward(10 * SECOND);
    await made.restart();
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(2));
    await made.parley.stop();
    expect(await made.delivery()).toMatchObject({ state: "retrying", attempts: [{ statusCode: 503 }] });

    made.shop.answer(status(200));
    await made.restart();
    await attempts(made, 2);
    expect(await made.delivery()).toMatchObject({ state: "delivered" });
    expect(made.shop.posts).toHaveLength(3);
  });
});

describe("a late reply", () => {
  const groupMessage = {
    text: "question",
    chatKind: "group",
    chat: "1@g.us",
    chatKey: "1@g.us",
    participant: "900@lid",
  } as const;

  it("goes to the writer alone when so configured, quoting nothing of the group", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url, { replyTo: "sender" });
    made.shop.answer(status(503), status(200, { message: "between us", quoted: true }));
    await made.parley.receive(groupMessage);
    await attempts(made, 1);
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);
    expect(await made.parley.sent()).toMatchObject([
      { text: "between us", jid: "15550001@s.whatsapp.net", quotes: null },
    ]);
    const [row] = await rawRows(made.store, "select chat, is_reply from outbox", []);
    expect(row).toMatchObject({ chat: "15550001@s.whatsapp.net", is_reply: 1 });
  });

  it("goes into the group otherwise", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(503), status(200, { message: "for all", quoted: true }));
    const { id } = await made.parley.receive(groupMessage);
    await attempts(made, 1);
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);
    expect(await made.parley.sent()).toMatchObject([{ text: "for all", jid: "1@g.us", quotes: id }]);
  });

  it("counts for the loop guard", async () => {
    const made = await scene({ loopGuardPerMinute: 2 });
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(503), status(200, ["one", "two"]), status(200, { message: "three" }));
    await made.parley.receive({ text: "first" });
    await attempts(made, 1);
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);

    await made.parley.receive({ text: "second" });
    await vi.waitFor(async () => expect(await made.parley.decisions()).toHaveLength(2));
    expect((await made.parley.decisions())[1]!.trail[0]).toMatchObject({ by: "guard:loop_guard" });
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("is kept back by the loop guard, and says so", async () => {
    const made = await scene({ loopGuardPerMinute: 2, random: () => 0 });
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(503), status(200, ["one", "two"]), status(200, { message: "too much" }));
    await made.parley.receive({ text: "first" });
    await attempts(made, 1);
    await made.parley.receive({ text: "second" });
    await vi.waitFor(async () => expect(await made.parley.decisions()).toHaveLength(2));

    await vi.waitFor(async () => {
      const first = (await made.parley.deliveries())[1]!;
      expect(first.state).toBe("delivered");
      expect(first.reply).toMatchObject({ understood: true, ids: [] });
      expect(first.reply!.ignored).toEqual([expect.stringMatching(/loop guard/)]);
    });
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("to a message that a guard kept from being answered is recorded only", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url, { replyMaxAge: 60 });
    made.shop.answer(status(503), status(200, { message: "late" }));
    await made.parley.receive({ timestamp: Math.floor(made.time.now() / 1000) - 120 });
    await attempts(made, 1);
    await made.parley.configure(made.shop.url, { replyMaxAge: 3600 });
    made.time.forward(10 * SECOND);
    await made.restart();
    await attempts(made, 2);
    expect(await made.parley.sent()).toEqual([]);
    expect((await made.delivery()).reply!.ignored).toEqual([
      expect.stringMatching(/the webhook may not answer this message/),
    ]);
  });
});

describe("what waits ends", () => {
  it("when the webhook is deleted", async () => {
    const made = await failedOnce();
    expect(await made.parley.webhooks.remove(DEVICE)).toBe(true);
    expect(await made.parley.webhooks.remove(DEVICE)).toBe(false);
    expect(await made.parley.webhooks.get(DEVICE)).toBeNull();
    await expectEnd(made);
  });

  // oxlint-disable-next-line vitest/expect-expect -- expectEnd expects
  it.each([{ enabled: false }, { mode: "off" }] as const)("when it is switched off: %j", async (change) => {
    const made = await failedOnce();
    await made.parley.configure(made.shop.url, change);
    await expectEnd(made);
  });

  it("when the receiver says 410, also for all others of the number", async () => {
    const made = await failedOnce();
    await made.parley.receive({ text: "another", chat: "2@lid", chatKey: "2@lid" });
    await vi.waitFor(async () => expect(await made.parley.deliveries()).toHaveLength(2));
    const { nextAt } = (await made.parley.deliveries())[1]!;
    await made.store.writer.commit([
      {
        sql: "update deliveries set next_at = next_at + 3600000 where message_id = ?",
        args: [(await made.delivery()).messageId],
      },
    ]);
    made.shop.answer(status(410));
    made.time.forward(nextAt! - made.time.now() + 1);
    await made.restart();
    await vi.waitFor(async () => {
      const states = (await made.parley.deliveries()).map(({ state, attempts: { length } }) => [
        state,
        length,
      ]);
      expect(states).toEqual([
        ["disabled", 1],
        ["disabled", 2],
      ]);
    });
    expect(await made.parley.webhooks.get(DEVICE)).toMatchObject({ enabled: false });
  });

  it("when the webhook is deleted while an attempt is under way", async () => {
    const made = await failedOnce();
    let release: (() => void) | undefined;
    made.shop.answer((response) => (release = () => void response.writeHead(500).end()));
    made.time.forward(10 * SECOND);
    await made.restart();
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(2));
    await made.parley.webhooks.remove(DEVICE);
    release!();
    await attempts(made, 2);
    expect(await made.delivery()).toMatchObject({ state: "disabled", nextAt: null });
  });
});

describe("replay", () => {
  it("posts the same event under the same id, and does not answer a second time", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(200, { message: "first" }), status(200, ["again", "and more"]));
    await made.parley.receive();
    await attempts(made, 1);
    await replay(made);

    expect(made.shop.posts[1]).toMatchObject({ body: made.shop.posts[0]!.body });
    expect(made.shop.posts[1]!.headers["webhook-id"]).toBe(made.shop.posts[0]!.headers["webhook-id"]);
    const sent = await made.parley.sent();
    expect(sent.map(({ text }) => text)).toEqual(["first"]);
    expect(await made.delivery()).toMatchObject({ state: "delivered", reply: { ids: [sent[0]!.id] } });
  });

  it("answers when nothing was sent for the event before", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(404), status(200, { message: "repaired" }));
    await made.parley.receive();
    await attempts(made, 1);
    expect((await made.delivery()).state).toBe("dead");
    await replay(made);
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["repaired"]);
  });

  it("that fails after the schedule was over ends with its one attempt", async () => {
    const made = await failedOnce();
    const { id } = await made.delivery();
    const spent = "update deliveries set state = 'dead', next_at = null, attempts = 10 where id = ?";
    await made.store.writer.commit([{ sql: spent, args: [id] }]);
    await replay(made);
    expect(await made.delivery()).toMatchObject({ state: "dead", nextAt: null });
    expect(made.shop.posts).toHaveLength(2);

    made.shop.answer(status(200, { message: "at last" }));
    await replay(made);
    expect(await made.delivery()).toMatchObject({ state: "delivered" });
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["at last"]);
  });

  it("asked for twice at once posts once and answers once", async () => {
    const made = await scene();
    await made.parley.configure(made.shop.url);
    made.shop.answer(status(404), status(200, { message: "repaired" }));
    await made.parley.receive();
    await attempts(made, 1);
    const { id } = await made.delivery();
    const { deliveries } = made.parley.webhooks;
    await Promise.all([deliveries.replay(ACCOUNT, id), deliveries.replay(ACCOUNT, id)]);
    await vi.waitFor(async () => expect((await made.delivery()).state).toBe("delivered"));
    expect((await made.parley.sent()).map(({ text }) => text)).toEqual(["repaired"]);
  });

  it("is refused without a webhook that is switched on, and finds only the account's own", async () => {
    const made = await failedOnce();
    const { id } = await made.delivery();
    const { deliveries, remove } = made.parley.webhooks;
    expect(await deliveries.replay("somebody else", id)).toBeNull();
    expect(await deliveries.find("somebody else", id)).toBeNull();
    expect(await deliveries.replay(ACCOUNT, "msg_0")).toBeNull();
    await remove(DEVICE);
    await expect(deliveries.replay(ACCOUNT, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("many deliveries", () => {
  it("of a dead receiver do not take the place of another number's", async () => {
    const made = await scene();
    const { store, parley, shop } = made;
    await store.writer.commit([
      {
        sql: "insert into devices (id, account_id, number, state, since, created_at) values (2, ?, '4930666', 'connected', 0, 0)",
        args: [ACCOUNT],
      },
    ]);
    const dead = await receiver();
    dead.answer(status(503));
    await parley.configure(dead.url, { timeoutMs: 30_000 });
    // One failure less than makes Parley pause.
    for (let i = 0; i < 9; i++) await parley.receive({ text: `${i}`, chat: `${i}@lid`, chatKey: `${i}@lid` });
    await vi.waitFor(async () => expect(await parley.deliveries()).toHaveLength(9));
    shop.answer(status(200));
    await parley.webhooks.put(2, { url: shop.url });
    const columns = "inbox_id, message_id, chat, type, url, state, attempts, may_reply, created_at";
    const [row] = await rawRows(store, "select * from deliveries limit 1", []);
    const id = "msg_other";
    const { body, target } = store.box.openJson<object & { body: string; target: object }>(
      Buffer.from(row!.body as ArrayBuffer),
      `delivery:${String(row!.id)}`,
    );
    await store.writer.commit([
      {
        sql: `insert into deliveries (id, device_id, next_at, body, ${columns}) select ?, 2, next_at + 1, ?, ${columns} from deliveries limit 1`,
        args: [id, store.box.sealJson({ body, target }, `delivery:${id}`)],
      },
    ]);
    // From now on the receiver of the first number hangs.
    dead.answer(() => undefined);
    made.time.forward(MINUTE);
    await made.restart();

    await vi.waitFor(() => expect(shop.posts).toHaveLength(1));
    await vi.waitFor(() => expect(dead.posts.length).toBe(9 + 4));
  });
});

describe("the secret", () => {
  it("is given once; after a rotation both sign for a day, then the new one alone", async () => {
    const made = await scene();
    const { parley, shop, time } = made;
    const first = (await parley.configure(shop.url)).secret!;
    expect((await parley.configure(shop.url, { read: true })).secret).toBeNull();
    const second = (await parley.webhooks.rotate(DEVICE))!.secret;
    expect(second).not.toBe(first);

    const verifies = async (secret: string): Promise<boolean> => {
      const before = shop.posts.length;
      await made.parley.receive();
      await vi.waitFor(() => expect(shop.posts.length).toBe(before + 1));
      const { body, headers } = shop.posts.at(-1)!;
      // The oracle compares with the clock of the machine, ours runs ahead.
      vi.useFakeTimers({ now: time.now(), toFake: ["Date"] });
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      } finally {
        vi.useRealTimers();
      }
    };
    expect([await verifies(first), await verifies(second)]).toEqual([true, true]);
    time.forward(23 * HOUR);
    await made.restart();
    expect([await verifies(first), await verifies(second)]).toEqual([true, true]);
    time.forward(2 * HOUR);
    expect([await verifies(first), await verifies(second)]).toEqual([false, true]);

    // Whoever did not hear the answer rotates again; the receiver still checks with what it had before.
    const third = (await made.parley.webhooks.rotate(DEVICE))!.secret;
    const fourth = (await made.parley.webhooks.rotate(DEVICE))!.secret;
    await made.restart();
    for (const secret of [second, third, fourth]) expect(await verifies(secret)).toBe(true);
    time.forward(25 * HOUR);
    expect([await verifies(second), await verifies(third), await verifies(fourth)]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
