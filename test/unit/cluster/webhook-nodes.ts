import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createRedisJobs } from "../../../src/cluster/jobs.ts";
import { loadConfig } from "../../../src/config.ts";
import type { Cluster } from "../../../src/model/nodes/cluster.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import type { MessagePath } from "../../../src/path/path.ts";
import { deliveryId, insertDelivery, type Delivery } from "../../../src/webhooks/rows.ts";
import { joinPath } from "../../_setup/path.ts";
import { listeningLog } from "../bot/messages.ts";
import { rawRows } from "../store/rows.ts";
import type { Node, TestBus } from "./shared-server.ts";

/** A node with the way of a message, and jobs on a real Redis. */
export interface WebhookNode extends Node {
  path: MessagePath;
  cluster: Cluster;
  text(): string;
}

export interface WebhookNodesDeps {
  open(node: string, bus: TestBus): Promise<Node>;
  redisUrl: string;
  /** Of one test: its jobs are no other's. */
  prefix: string;
  bus: TestBus;
  deviceId: number;
}

/** Claims outlive their process by this. */
const LEASE_MS = 3_000;

/** Starts a node; the first of a bus has all numbers. */
export async function webhookNode(name: string, deps: WebhookNodesDeps): Promise<WebhookNode> {
  const node = await deps.open(name, deps.bus);
  const { log, text } = listeningLog();
  const { redisUrl, prefix } = deps;
  const jobs = await createRedisJobs({ redisUrl, prefix, log, time: systemTime });
  const cluster = { ...node.cluster, jobs };
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const path = joinPath({
    store: node.store,
    news: node.news,
    cluster,
    config: { ...loadConfig({}), cluster: { node: name, leaseMs: LEASE_MS, url: null } as never },
    log,
    http,
    random: () => 0.5,
  });
  await path.load();
  await path.webhooks.open(deps.deviceId);
  path.webhooks.start();
  onTestFinished(async () => {
    await path.webhooks.stop(0);
    await jobs.stop();
    await http.close();
  });
  return { ...node, cluster, path, text };
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
