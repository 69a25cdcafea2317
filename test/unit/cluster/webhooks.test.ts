import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startRedis, type RedisServer } from "../../_setup/redis.ts";
import { rawRows } from "../store/rows.ts";
import { createTestBus, hasSqld, nodesOnOneServer, type TestBus } from "./shared-server.ts";
import { shop, stateOf, waits, webhookNode, type WebhookNode } from "./webhook-nodes.ts";

const open = nodesOnOneServer();
let redis: RedisServer;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  redis = await startRedis({ until: (end) => void ends.push(end) });
});
afterAll(async () => {
  for (const end of ends) await end();
});

let deviceId = 100;
let bus: TestBus;
beforeEach(() => {
  deviceId++;
  bus = createTestBus();
});

const chat = (index: number): string => `49301${index}@s.whatsapp.net`;

const node = (name: string, redisUrl = redis.url): Promise<WebhookNode> =>
  webhookNode(`${name}${deviceId}`, { open, redisUrl, prefix: `{t${deviceId}}`, bus, deviceId });

/** Two nodes whose number has a webhook. The first one has the number. */
async function twoNodes(redisUrl = redis.url) {
  const receiver = await shop();
  const one = await node("one", redisUrl);
  await one.store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, 'acc', ?, 'connected', 0, 0)",
      args: [deviceId, `4930${deviceId}`],
    },
  ]);
  await one.path.webhooks.put(deviceId, { url: receiver.url });
  const other = await node("other", redisUrl);
  const event = (index: number, text: string) =>
    waits(one, { deviceId, chat: chat(index), text, url: receiver.url });
  return { receiver, one, other, event };
}

/** So many events in each of so many chats. */
async function events(event: (chat: number, text: string) => Promise<string>, chats: number, each: number) {
  for (let text = 1; text <= each; text++)
    await Promise.all(Array.from({ length: chats }, (_, index) => event(index, String(text))));
}

const inOrder = (each: number): string[] => Array.from({ length: each }, (_, index) => String(index + 1));

describe.skipIf(!hasSqld)("events that wait", () => {
  it("are posted once each by whoever is free, in the order of their chat", async () => {
    const { receiver, one, event } = await twoNodes();

    await events(event, 20, 5);
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(100));

    for (let index = 0; index < 20; index++)
      expect(receiver.of(`49301${index}@s.whatsapp.net`)).toEqual(inOrder(5));
    expect(new Set(receiver.posts.map(({ id }) => id)).size).toBe(100);
    await vi.waitFor(async () =>
      expect(
        await rawRows(one.store, "select delivery_id from delivery_claims where device_id = ?", [deviceId]),
      ).toEqual([]),
    );
  });

  it("are posted while Redis is away, and when it has forgotten everything", async () => {
    const own = await startRedis();
    const { receiver, event } = await twoNodes(own.url);
    await own.kill();
    await events(event, 3, 2);
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(6));

    await own.start();
    await events(event, 3, 0);
    const flushing = setInterval(() => void own.command("FLUSHALL").catch(() => undefined), 500);
    for (let text = 3; text <= 8; text++)
      await Promise.all([0, 1, 2].map((index) => event(index, String(text))));
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(24));
    clearInterval(flushing);

    for (const index of [0, 1, 2]) expect(receiver.of(chat(index))).toEqual(inOrder(8));
  });

  it("are not touched while somebody else has claimed them, and are when that one is gone", async () => {
    const { receiver, one, event } = await twoNodes();
    const now = "cast(unixepoch('subsec') * 1000 as integer)";
    await one.store.writer.commit([
      {
        sql: `insert into delivery_claims values ('another of the chat', ?, ?, 'gone', 'gone', ${now} + 3600000)`,
        args: [deviceId, chat(1)],
      },
    ]);
    const id = await event(1, "1");
    await event(2, "beside");
    await vi.waitFor(() => expect(receiver.of(chat(2))).toEqual(["beside"]));
    expect(receiver.of(chat(1))).toEqual([]);

    await one.store.writer.commit([
      { sql: `update delivery_claims set until = ${now} where device_id = ?`, args: [deviceId] },
    ]);

    await vi.waitFor(() => expect(receiver.of(chat(1))).toEqual(["1"]));
    await vi.waitFor(async () =>
      expect(await stateOf(one, id)).toMatchObject({ state: "delivered", attempts: 1 }),
    );
  });

  it("are kept as they were when the one who made the attempt is not theirs any more", async () => {
    const { receiver, one, event } = await twoNodes();
    const held: (() => void)[] = [];
    receiver.answers((response) => void held.push(() => response.end()));
    const id = await event(1, "1");
    await vi.waitFor(() => expect(held).toHaveLength(1));

    const [claimed] = await rawRows(one.store, "select token from delivery_claims where delivery_id = ?", [
      id,
    ]);
    await one.store.writer.commit([
      {
        sql: "update delivery_claims set token = 'thief', until = 0 where delivery_id = ?",
        args: [id],
      },
    ]);
    receiver.answers((response) => response.end());
    held[0]!();

    await vi.waitFor(() => expect(receiver.posts).toHaveLength(2));
    expect(claimed).toBeDefined();
    expect(new Set(receiver.posts.map((post) => post.id)).size).toBe(1);
    await vi.waitFor(async () =>
      expect(await stateOf(one, id)).toMatchObject({ state: "delivered", attempts: 1 }),
    );
    expect(
      await rawRows(one.store, "select attempt from delivery_attempts where delivery_id = ?", [id]),
    ).toHaveLength(1);
  });
});

describe.skipIf(!hasSqld)("a reply to an attempt that another node makes", () => {
  it("is stored once, with the outcome, and the node that has the number is told to send it", async () => {
    const { receiver, one, other } = await twoNodes();
    receiver.answers((response) => response.end(JSON.stringify({ message: "We are back." })));
    await one.path.webhooks.stop(0);
    const id = await waits(one, {
      deviceId,
      chat: chat(1),
      text: "hello?",
      url: receiver.url,
      mayReply: true,
    });

    await other.cluster.jobs.add("webhooks", `${deviceId}@now`);

    await vi.waitFor(async () => expect(await stateOf(one, id)).toMatchObject({ state: "delivered" }));
    const sent = await rawRows(one.store, "select wa_id, origin, state from outbox where device_id = ?", [
      deviceId,
    ]);
    expect(sent).toMatchObject([{ origin: "webhook", state: "queued" }]);
    const [delivery] = await rawRows(one.store, "select reply from deliveries where id = ?", [id]);
    expect(JSON.parse(String(delivery!.reply))).toMatchObject({ ids: [sent[0]!.wa_id] });
    expect(
      await rawRows(one.store, "select device_id from send_wakes where device_id = ?", [deviceId]),
    ).toHaveLength(1);
  });
});

describe.skipIf(!hasSqld)("a webhook that fails", () => {
  it("is let alone by all nodes, is tried by one, and gets everything in order when it is back", async () => {
    const { receiver, one, other, event } = await twoNodes();
    receiver.answers((response) => void response.writeHead(503).end());
    await events(event, 12, 1);
    await vi.waitFor(() => {
      expect(one.path.webhooks.get(deviceId)!.health.state).toBe("paused");
      expect(other.path.webhooks.get(deviceId)!.health.state).toBe("paused");
    });
    for (let text = 2; text <= 3; text++)
      await Promise.all(Array.from({ length: 12 }, (_, index) => event(index, String(text))));

    receiver.answers((response) => response.end());
    const tried = receiver.posts.length;
    // Whoever is asked: the node that has the number tries.
    await other.path.webhooks.deliveries.replayMany({ deviceIds: [deviceId], state: "retrying" });

    await vi.waitFor(() => {
      for (let index = 0; index < 12; index++)
        expect(receiver.posts.slice(tried).filter((post) => post.chat === chat(index))).toHaveLength(3);
    });
    for (let index = 0; index < 12; index++)
      expect(
        receiver.posts
          .slice(tried)
          .filter((post) => post.chat === chat(index))
          .map(({ text }) => text),
      ).toEqual(inOrder(3));
    expect(one.path.webhooks.get(deviceId)!.health.state).toBe("ok");
  });
});
