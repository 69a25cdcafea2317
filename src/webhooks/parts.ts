import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import { OutboundError } from "../net/errors.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import { createWebhookAnswerers } from "./answerer.ts";
import { createBreakers } from "./breaker.ts";
import { createDeliverer, type Attempt } from "./deliver.ts";
import { createDrafts, type ReplyMedia } from "./drafts.ts";
import { createDueRows } from "./due.ts";
import type { EventFiles } from "./files.ts";
import { createHolds } from "./holds.ts";
import { createInFlight } from "./in-flight.ts";
import { createLateReplies, type LoopGuard, type ReplyOutbox } from "./late-replies.ts";
import { createNotices } from "./notices.ts";
import { createRegistry } from "./registry.ts";
import { createRetryWorker, type RetryWorker } from "./worker.ts";

/** What webhooks need of the rest of the gateway, and whom they tell. */
export interface WebhooksDeps {
  store: Store;
  config: { webhookTimeoutMs: number };
  log: Logger;
  http: Pick<SafeFetch, "request" | "check">;
  /** For replies of later attempts; those of the first attempt are the pipeline's. */
  outbox: ReplyOutbox;
  /** Fetches the files that answers name. */
  media: ReplyMedia;
  /** Files of the messages that events are about. */
  files: EventFiles;
  loopGuard: LoopGuard;
  /** For read marks and "typing"; null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "markRead" | "typing"> | null;
  onAttempt?: (attempt: Attempt) => void;
  /** A delivery is given up. */
  onDead?: () => void;
  /** A delivery is in another state; called after the commit. Those of a message's own decision are the pipeline's to tell. */
  onDelivery?: (deviceId: number, id: string) => void;
  /** Nothing is posted to it for now, it is used again, or it was switched off; called after the commit. */
  onTurn?: (deviceId: number, to: "paused" | "ok" | "disabled") => void;
  /** 0 to 1; spreads the times of retries. Default `Math.random`. */
  random?: () => number;
}

/** Makes the parts of webhooks and joins them. Nothing is read and nothing runs before `load` and `start`. */
export function joinParts(deps: WebhooksDeps) {
  const {
    store,
    config,
    log,
    http,
    outbox,
    media,
    files,
    loopGuard,
    connection,
    random = Math.random,
  } = deps;
  const { now, time } = store;
  const stopping = sharedAbort();
  const inFlight = createInFlight();
  const holds = createHolds(store);
  const registry = createRegistry({
    store,
    log,
    config,
    checkUrl: (url) => checkUrl(http, url),
    letGo: holds.letGo,
  });
  const deliverer = createDeliverer({
    http,
    time,
    stopping: stopping.signal,
    inFlight,
    onAttempt: deps.onAttempt,
  });
  const drafts = createDrafts({ log, media, time, stopping: stopping.signal });
  const due = createDueRows(store);
  // Attempts count for breakers, which wake the worker that makes attempts.
  let worker: RetryWorker;
  const breakers = createBreakers({
    store,
    log,
    random,
    wake: (deviceId) => worker.wake(deviceId),
    onTurn: deps.onTurn,
  });
  const { onDead, onDelivery, onTurn } = deps;
  const onDisabled = (deviceId: number): void => onTurn?.(deviceId, "disabled");
  const lateReplies = createLateReplies({ drafts, outbox, loopGuard, holds, now });
  const posts = { store, log, registry, breakers, due, deliverer, files, random, onDead, onDisabled };
  worker = createRetryWorker({ ...posts, lateReplies, onDelivery });
  const { holder, answerer } = createWebhookAnswerers({
    ...posts,
    drafts,
    holds,
    worker,
    inFlight,
    connection,
  });
  const notices = createNotices({ store, registry, worker, onDelivery });

  return { stopping, inFlight, registry, deliverer, holds, due, breakers, worker, holder, answerer, notices };
}

async function checkUrl(http: Pick<SafeFetch, "check">, url: string): Promise<void> {
  try {
    await http.check(url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new GatewayError("URL_NOT_ALLOWED", error.message, { fields: { url: [error.message] } });
  }
}
