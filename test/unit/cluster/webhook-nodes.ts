import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { partitionOf } from "../../../src/model/nodes/cluster.ts";
import { createSafeFetch, type SafeFetch } from "../../../src/net/safe-fetch.ts";
import { deliveryId, insertDelivery, type Delivery } from "../../../src/webhooks/rows.ts";
import { joinPath, type JoinedPath } from "../../_setup/path.ts";
import { listeningLog } from "../bot/messages.ts";
import { rawRows } from "../store/rows.ts";
import type { Node, TestBus } from "./shared-server.ts";

/** A node with the way of a message. */
export interface WebhookNode extends Node {
  path: JoinedPath;
  http: SafeFetch;
  text(): string;
  /** It has the test's number from now on. */
  take(): Promise<void>;
}

export interface WebhookNodesDeps {
  open(node: string, bus: TestBus): Promise<Node>;
  bus: TestBus;
  deviceId: number;
  /** Who has the number, which the nodes of a test share. */
  owner: { node: string; epoch: number };
}

/** Longer than any test. */
const FOREVER_MS = 3_600_000;

/** Starts a node; the first of a bus has all numbers. */
export async function webhookNode(name: string, deps: WebhookNodesDeps): Promise<WebhookNode> {
  const node = await deps.open(name, deps.bus);
  const { log, text } = listeningLog();
  const { owner } = deps;
  node.store.serveLeases({
    epochOf: () => (owner.node === name ? owner.epoch : null),
    refused: () => undefined,
  });
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const path = joinPath({
    store: node.store,
    news: node.news,
    cluster: node.cluster,
    config: loadConfig({}),
    log,
    http,
    random: () => 0.5,
  });
  await path.load();
  path.start();
  onTestFinished(async () => {
    await path.drain(0);
    await http.close();
  });
  async function take(): Promise<void> {
    const epoch = owner.epoch + 1;
    await node.store.writer.commit([
      {
        sql: `insert into leases (p, node, epoch, until) values (?, ?, ?, ?)
          on conflict (p) do update set node = excluded.node, epoch = excluded.epoch, until = excluded.until`,
        args: [partitionOf(deps.deviceId), name, epoch, Date.now() + FOREVER_MS],
      },
    ]);
    Object.assign(owner, { node: name, epoch });
    await path.open(deps.deviceId);
  }
  return { ...node, http, path, text, take };
}

export interface Posted {
  id: string;
  chat: string;
  text: string;
}

/** A customer's server. */
export async function shop() {
  const posts: Posted[] = [];
  let answer: (response: ServerResponse, post: Posted) => void = (response) => response.end();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { chat, text } = JSON.parse(Buffer.concat(chunks).toString()) as Posted;
    const post = { id: String(request.headers["webhook-id"]), chat, text };
    posts.push(post);
    answer(response, post);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    posts,
    answers: (how: typeof answer) => void (answer = how),
    /** Texts of a chat, in the order in which they came. */
    of: (chat: string): string[] => posts.filter((post) => post.chat === chat).map(({ text }) => text),
  };
}

/** An event that waits for its first attempt, as those of states do; nobody is told of it. */
export async function waits(
  { store }: Pick<Node, "store">,
  event: { deviceId: number; chat: string; text: string; url: string; mayReply?: boolean },
): Promise<string> {
  const { deviceId, chat, text, url, mayReply = false } = event;
  const id = deliveryId(store.box, deviceId, `${chat} ${text}`);
  const delivery: Delivery = {
    id,
    deviceId,
    listener: "",
    inboxId: 0,
    messageId: id,
    chat,
    type: "status",
    attempts: 0,
    mayReply,
    createdAt: store.now(),
    body: JSON.stringify({ chat, text }),
    target: { jid: chat, chat, quote: null, timestamp: Math.floor(store.now() / 1000) },
    reply: null,
  };
  const progress = { state: "pending", nextAt: delivery.createdAt } as const;
  await store.writer.commit([insertDelivery(store.box, delivery, url, progress, "behind")]);
  return id;
}

export const stateOf = async ({ store }: Pick<Node, "store">, id: string) =>
  (await rawRows(store, "select state, attempts from deliveries where id = ?", [id]))[0];
