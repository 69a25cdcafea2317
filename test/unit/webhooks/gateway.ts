import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createMedia } from "../../../src/media/media.ts";
import type { Draft } from "../../../src/model/content/drafts.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import { createObservers } from "../../../src/path/observers.ts";
import type { Store } from "../../../src/store/store.ts";
import type { WebhookSettings } from "../../../src/webhooks/index.ts";
import type { EventFiles } from "../../../src/webhooks/events/files.ts";
import { joinPath, noFiles } from "../../_setup/path.ts";
import { incoming, listeningLog } from "../bot/messages.ts";
import { temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { rawRows } from "../store/rows.ts";

export const DEVICE = 1;
export const NUMBER = "4930555";
export const ACCOUNT = "acc1";

export interface Post {
  headers: IncomingHttpHeaders;
  /** As received. */
  body: string;
  event: Record<string, unknown>;
}

export interface Receiver {
  url: string;
  posts: Post[];
  /** What happens to the next posts; the last one stays. */
  answer(...behaviours: Behaviour[]): void;
}

type Behaviour = (response: ServerResponse, post: Post) => void;

/** A customer's server on loopback. */
export async function receiver(): Promise<Receiver> {
  const posts: Post[] = [];
  let behaviours: Behaviour[] = [status(200)];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const post = { headers: request.headers, body, event: JSON.parse(body) as Record<string, unknown> };
    posts.push(post);
    const behaviour = behaviours.length > 1 ? behaviours.shift()! : behaviours[0]!;
    behaviour(response, post);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, posts, answer: (...next) => void (behaviours = next) };
}

export function status(code: number, body: unknown = "", headers: Record<string, string> = {}): Behaviour {
  return (response) => {
    response.writeHead(code, headers);
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** A clock that tests set. */
export interface Clock {
  now(): number;
  forward(ms: number): void;
}

export function clock(): Clock {
  let ahead = 0;
  return { now: () => Date.now() + ahead, forward: (ms) => void (ahead += ms) };
}

export async function storeWithNumber(now?: () => number): Promise<Store> {
  const store = await temporaryStore({ ALLOW_PRIVATE_NETWORK: "1" }, now);
  await store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, ?, ?, 'connected', 0, 0)",
      args: [DEVICE, ACCOUNT, NUMBER],
    },
  ]);
  return store;
}

export interface Sent {
  text: string;
  jid: string;
  id: string;
  quotes: string | null;
  draft: Draft;
}

/** The gateway's own way of a message; WhatsApp takes nothing. */
export async function gateway(
  store: Store,
  options: {
    before?: Answerer[];
    random?: () => number;
    privateNetwork?: boolean;
    files?: EventFiles;
    loopGuardPerMinute?: number;
    /** Default: nobody knows. */
    accountOf?: (deviceId: number) => string | null;
    /** What waits is begun by `start`, as when a gateway has many numbers to open. Default false. */
    startsLater?: boolean;
  } = {},
) {
  const { log, text: logged } = listeningLog();
  const presence: string[] = [];
  const turns: string[] = [];
  const http = createSafeFetch({ allowPrivateNetwork: options.privateNetwork ?? true });
  const dataDir = temporaryFolder();
  const media = createMedia({
    store,
    config: { dataDir, maxMediaBytes: 1024 ** 2, ffmpegPath: null, publicUrl: "http://127.0.0.1:9" },
    log,
    http,
    accountOf: () => null,
  });
  const observers = createObservers();
  observers.add({ webhook: ({ deviceId, to }) => void turns.push(`${deviceId} ${to}`) });
  const connection = {
    // What is to be sent stays in the outbox.
    send: () => new Promise(() => undefined),
    caughtUp: async () => undefined,
    markRead: async (messages: readonly { chat: string; id: string }[]) => {
      for (const { chat, id } of messages) presence.push(`read ${chat} ${id}`);
    },
    showState: async (chat: string, state: string) =>
      void presence.push(`typing ${chat} ${state === "typing"}`),
  };
  const path = joinPath({
    store,
    config: loadConfig({
      DATA_DIR: dataDir,
      PACE_PER_MINUTE: "0",
      SEND_WAIT_MS: "1000",
      LOOP_GUARD_PER_MINUTE: String(options.loopGuardPerMinute ?? 0),
    }),
    log,
    connections: {
      connection: () => connection as never,
      ...(options.accountOf && { accountOf: options.accountOf }),
    },
    http,
    files: { outgoing: media, received: { ...noFiles, ...options.files } },
    observers,
    besides: options.before ?? [],
    random: options.random ?? (() => 0.5),
  });
  const { outbox, webhooks } = path;
  await path.load();
  for (const row of await rawRows(store, "select id from devices", [])) await path.open(Number(row.id));
  if (!options.startsLater) path.start();
  let stopped = false;
  const stop = async (graceMs = 0): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await path.drain(graceMs);
    media.stop();
    await http.close();
  };
  onTestFinished(() => stop());

  return {
    webhooks,
    start: path.start,
    presence,
    turns,
    logged,
    stop,
    /** A message arrives; resolves when it is stored. */
    receive: async (change: Partial<Incoming> = {}, device = DEVICE): Promise<Incoming> => {
      const message = incoming({ timestamp: Math.floor(store.now() / 1000), ...change });
      await commitIntake(store.writer, path.receive(device, NUMBER, [message]));
      return message;
    },
    /** The number is in another state; resolves when its events are stored. */
    moved: (state: string, at: number) => {
      const standing = { number: NUMBER, state, at, reason: null, until: null };
      return commitIntake(store.writer, path.moved(DEVICE, standing));
    },
    configure: (url: string, change: Partial<WebhookSettings> = {}) =>
      webhooks.put(DEVICE, { url, ...change }),
    deliveries: async () => (await webhooks.deliveries.list({ deviceIds: [DEVICE], limit: 100 })).deliveries,
    /** What is in the outbox, in order; texts of what is no text are "". */
    sent: async (): Promise<Sent[]> => {
      const rows = await rawRows(store, "select wa_id, jid from outbox order by id", []);
      return Promise.all(
        rows.map(async (row) => {
          const id = String(row.wa_id);
          const draft = await outbox.sentContent(DEVICE, id);
          return {
            text: draft !== null && "text" in draft ? draft.text : "",
            jid: String(row.jid),
            id,
            quotes: draft!.quote?.id ?? null,
            draft: draft!,
          };
        }),
      );
    },
    decisions: async () =>
      (await rawRows(store, 'select wa_id, "by", trail from decisions order by inbox_id', [])).map((row) => ({
        id: String(row.wa_id),
        by: row.by as string | null,
        trail: JSON.parse(String(row.trail)) as { by: string; outcome: string; detail?: string }[],
      })),
  };
}

export type Gateway = Awaited<ReturnType<typeof gateway>>;
