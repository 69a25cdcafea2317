import type { Logger } from "../log.ts";
import { alone } from "../model/nodes/alone.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { NO_NEWS, type News } from "../model/nodes/news.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import { OutboundError } from "../net/errors.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import { createWebhookAnswerers } from "./answerer.ts";
import { createBreakers, type BreakerNews } from "./attempts/breaker.ts";
import { createDeliverer, type Attempt, type Deliverer } from "./attempts/deliver.ts";
import { createDrafts, type ReplyMedia } from "./replies/drafts.ts";
import { createDueRows } from "./attempts/due.ts";
import type { EventFiles } from "./events/files.ts";
import { createHolds } from "./holds.ts";
import { createInFlight } from "./attempts/in-flight.ts";
import {
  createLateReplies,
  type LateReplies,
  type ReplyGuard,
  type ReplyOutbox,
} from "./replies/late-replies.ts";
import { createNotices } from "./events/notices.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { createSharedWork } from "./attempts/shared-work.ts";
import { createRetryWorker, type RetryWorker } from "./attempts/worker.ts";

/** What webhooks need of the rest of the gateway, and whom they tell. */
export interface WebhooksDeps {
  store: Store;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Cluster;
  config: { webhookTimeoutMs: number; cluster?: { leaseMs: number } | null };
  /** What other nodes change of what is remembered here. Default: nothing. */
  news?: News | undefined;
  log: Logger;
  http: Pick<SafeFetch, "request" | "check">;
  /** For replies of later attempts; those of the first attempt are the pipeline's. */
  outbox: ReplyOutbox;
  /** Fetches the files that answers name. */
  media: ReplyMedia;
  /** Files of the messages that events are about. */
  files: EventFiles;
  loopGuard: ReplyGuard;
  /** For read marks and "typing"; null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "markRead" | "typing"> | null;
  /** Whose a number is; null when nobody knows. Default: nobody does. */
  accountOf?: (deviceId: number) => string | null;
  onAttempt?: (attempt: Attempt, deviceId: number) => void;
  /** A delivery is given up. */
  onDead?: () => void;
  /** A delivery is in another state; called after the commit. Those of a message's own decision are the pipeline's to tell. */
  onDelivery?: (deviceId: number, id: string) => void;
  /** Nothing is posted to it for now, it is used again, or it was switched off; called after the commit. */
  onTurn?: (deviceId: number, to: "paused" | "ok" | "disabled") => void;
  /** 0 to 1; spreads the times of retries. Default `Math.random`. */
  random?: () => number;
}

/** How a webhook does, for the other nodes. Whoever misses it reads the row when it looks at the number. */
const HEALTH = defineTopic<BreakerNews>("webhook-health");
const LEASE_MS = 15_000;

/** Makes the parts of webhooks and joins them. Nothing is read and nothing runs before `load` and `start`. */
export function joinParts(deps: WebhooksDeps) {
  const { store, config, log, http, outbox, media, loopGuard, news = NO_NEWS } = deps;
  const { time } = store;
  const stopping = sharedAbort();
  const inFlight = createInFlight();
  const holds = createHolds(store, news);
  const registry = createRegistry({
    store,
    log,
    config,
    checkUrl: (url) => checkUrl(http, url),
    letGo: holds.letGo,
    news,
    onGone(deviceId) {
      attempting.breakers.forget(deviceId);
      holds.forget(deviceId);
    },
  });
  const deliverer = createDeliverer({
    http,
    time,
    stopping: stopping.signal,
    inFlight,
    onAttempt: deps.onAttempt,
  });
  const drafts = createDrafts({ log, media, time, stopping: stopping.signal });
  const node = joinNode(deps);
  const { now } = node;
  const lateReplies = createLateReplies({ drafts, outbox, loopGuard, holds, now });
  const attempting = joinAttempts(deps, node, { registry, deliverer, lateReplies });
  const { posts, worker } = attempting;
  const { holder, answerer } = createWebhookAnswerers({
    ...posts,
    claims: node.shared?.claims ?? null,
    drafts,
    holds,
    worker,
    inFlight,
    connection: deps.connection,
  });
  const notices = createNotices({ store, now, registry, worker, onDelivery: deps.onDelivery });
  return {
    ...node,
    ...attempting,
    stopping,
    inFlight,
    registry,
    deliverer,
    holds,
    holder,
    answerer,
    notices,
  };
}

type Node = ReturnType<typeof joinNode>;

/** What this process shares with those beside it. */
function joinNode({ store, config, log, cluster = alone() }: WebhooksDeps) {
  const { node, bus, ownership } = cluster;
  const leaseMs = config.cluster?.leaseMs ?? LEASE_MS;
  const shared = node === null ? null : createSharedWork({ store, cluster, node, log, leaseMs });
  return { shared, now: shared?.claims.now ?? store.now, bus, ownership, onGap: bus.onGap };
}

/** Attempts count for breakers, which wake the worker that makes attempts. */
function joinAttempts(
  deps: WebhooksDeps,
  { shared, now, bus, ownership }: Node,
  parts: { registry: Registry; deliverer: Deliverer; lateReplies: LateReplies },
) {
  const { store, log, files, random = Math.random, onDead, onDelivery, onTurn } = deps;
  const due = createDueRows(store);
  let worker: RetryWorker;
  const breakers = createBreakers({
    store,
    log,
    random,
    now,
    wake: (deviceId) => worker.wake(deviceId),
    onTurn,
    ...(shared !== null && { mayProbe: ownership.owns, tell: (news) => bus.tell(HEALTH, news) }),
  });
  bus.listen(HEALTH, breakers.hear);
  const { registry, deliverer, lateReplies } = parts;
  const onDisabled = (deviceId: number): void => onTurn?.(deviceId, "disabled");
  const posts = { store, log, registry, breakers, due, deliverer, files, random, now, onDead, onDisabled };
  const { accountOf = () => null } = deps;
  worker = createRetryWorker({ ...posts, lateReplies, onDelivery, shared, accountOf });
  return { posts, due, breakers, worker };
}

async function checkUrl(http: Pick<SafeFetch, "check">, url: string): Promise<void> {
  try {
    await http.check(url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new GatewayError("URL_NOT_ALLOWED", error.message, { fields: { url: [error.message] } });
  }
}
