import { beforeEach, describe, expect, it, vi } from "vitest";
import { rawRows } from "../store/rows.ts";
import { createTestBus, hasSqld, nodesOnOneServer, type TestBus } from "./shared-server.ts";
import { shop, stateOf, waits, webhookNode, type WebhookNode } from "./webhook-nodes.ts";

const open = nodesOnOneServer();

let deviceId = 100;
let bus: TestBus;
let owner: { node: string; epoch: number };
beforeEach(() => {
  deviceId++;
  bus = createTestBus();
  owner = { node: "nobody", epoch: 0 };
});

const chat = (index: number): string => `49301${index}@s.whatsapp.net`;

const node = (name: string): Promise<WebhookNode> =>
  webhookNode(`${name}${deviceId}`, { open, bus, deviceId, owner });

/** Two nodes whose number has a webhook. The first one has the number. */
async function twoNodes() {
  const receiver = await shop();
  const one = await node("one");
  await one.store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, 'acc', ?, 'connected', 0, 0)",
      args: [deviceId, `4930${deviceId}`],
    },
  ]);
  await one.take();
  await one.path.webhooks.put(deviceId, { url: receiver.url });
  const other = await node("other");
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
const again = ({ path }: WebhookNode) =>
  path.webhooks.deliveries.replayMany({ deviceIds: [deviceId], state: "pending" });
const healthOf = async ({ path }: WebhookNode) => (await path.webhooks.get(deviceId))!.health;

describe.skipIf(!hasSqld)("events that wait", () => {
  it("are posted once each by the node that has the number, in the order of their chat, whoever is asked", async () => {
    const { receiver, one, other, event } = await twoNodes();
    const posted = vi.spyOn(one.http, "request");

    await events(event, 20, 5);
    await again(other);
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(100));

    for (let index = 0; index < 20; index++) expect(receiver.of(chat(index))).toEqual(inOrder(5));
    expect(new Set(receiver.posts.map(({ id }) => id)).size).toBe(100);
    expect(posted).toHaveBeenCalledTimes(100);
  });

  it("are found when the news of them were lost", async () => {
    const { receiver, other, event } = await twoNodes();
    bus.cut();
    await events(event, 3, 2);
    await again(other);
    expect(receiver.posts).toEqual([]);

    bus.mend();
    await vi.waitFor(() => expect(receiver.posts).toHaveLength(6));
    for (const index of [0, 1, 2]) expect(receiver.of(chat(index))).toEqual(inOrder(2));
  });

  it("go on at the next node that has the number: what was being posted is posted again, under its id", async () => {
    const { receiver, one, other, event } = await twoNodes();
    const held: (() => void)[] = [];
    receiver.answers((response) => void held.push(() => response.end()));
    const id = await event(1, "1");
    await event(1, "2");
    await again(one);
    await vi.waitFor(() => expect(held).toHaveLength(1));

    await one.path.close(deviceId);
    receiver.answers((response) => response.end());
    await other.take();
    held[0]!();

    await vi.waitFor(() => expect(receiver.of(chat(1))).toEqual(["1", "1", "2"]));
    expect(receiver.posts[1]!.id).toBe(receiver.posts[0]!.id);
    await vi.waitFor(async () =>
      expect(await stateOf(one, id)).toMatchObject({ state: "delivered", attempts: 1 }),
    );
    expect(
      await rawRows(one.store, "select attempt from delivery_attempts where delivery_id = ?", [id]),
    ).toHaveLength(1);
  });
});

describe.skipIf(!hasSqld)("a webhook that fails", () => {
  /** Its breaker is open, and events of twelve chats wait. */
  async function paused() {
    const made = await twoNodes();
    const { receiver, one, other, event } = made;
    receiver.answers((response) => void response.writeHead(503).end());
    await events(event, 12, 1);
    await again(one);
    await vi.waitFor(async () => {
      for (const each of [one, other]) expect(await healthOf(each)).toMatchObject({ state: "paused" });
    });
    for (let text = 2; text <= 3; text++)
      await Promise.all(Array.from({ length: 12 }, (_, index) => event(index, String(text))));
    receiver.answers((response) => response.end());
    return { ...made, tried: receiver.posts.length };
  }

  /** Texts of each chat since the webhook works, once all have come and it counts as working. */
  async function textsSince({ receiver, one, tried }: Awaited<ReturnType<typeof paused>>) {
    const textsOf = (index: number): string[] =>
      receiver.posts
        .slice(tried)
        .filter((post) => post.chat === chat(index))
        .map(({ text }) => text);
    const all = () => Array.from({ length: 12 }, (_, index) => textsOf(index));
    await vi.waitFor(() => expect(all().flat()).toHaveLength(36));
    await vi.waitFor(async () => expect(await healthOf(one)).toMatchObject({ state: "ok" }));
    return all();
  }
  const allInOrder = Array.from({ length: 12 }, () => inOrder(3));

  it("is tried by the node that has the number when another one is asked for a replay", async () => {
    const made = await paused();
    await made.other.path.webhooks.deliveries.replayMany({ deviceIds: [deviceId], state: "retrying" });
    expect(await textsSince(made)).toEqual(allInOrder);
  });

  it("is used again when another node finds that it works", async () => {
    const made = await paused();
    expect(await made.other.path.webhooks.test(deviceId)).toMatchObject({ statusCode: 200 });
    expect(await textsSince(made)).toEqual(allInOrder);
  });

  it("is used again when it is set anew at another node", async () => {
    const made = await paused();
    const { config } = await made.other.path.webhooks.put(deviceId, { url: made.receiver.url });
    expect(config.health).toMatchObject({ state: "ok", failures: 0 });
    expect(await textsSince(made)).toEqual(allInOrder);
  });

  it("is let alone by the node that has the number next, until its pause is over", async () => {
    const { receiver, one, other, tried } = await paused();
    await one.path.close(deviceId);
    await other.take();
    expect(await healthOf(other)).toMatchObject({ state: "paused" });
    expect(receiver.posts).toHaveLength(tried);
  });
});
