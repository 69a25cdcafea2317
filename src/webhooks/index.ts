import type { Logger } from "pino";
import { devices } from "../../drizzle/schema.ts";
import { GatewayError } from "../model/errors.ts";
import { OutboundError } from "../net/errors.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Answerer } from "../model/answerer.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import { createWebhookAnswerers } from "./answerer.ts";
import { createBreakers } from "./breaker.ts";
import { createDeliverer, type Attempt } from "./deliver.ts";
import { createDrafts, type ReplyMedia } from "./drafts.ts";
import { createDueRows } from "./due.ts";
import { WEBHOOK_DEFAULTS, type Webhook, type WebhookSettings, type WebhookHealth } from "./settings.ts";
import { settingsOf, createRegistry } from "./registry.ts";
import type { EventFiles } from "./files.ts";
import { createHolds } from "./holds.ts";
import { createLateReplies, type LoopGuard, type ReplyOutbox } from "./late-replies.ts";
import { createDeliveries, type Deliveries } from "./records.ts";
import { createReplays, type Replays } from "./replays.ts";
import { shownAnswer } from "./rows.ts";
import { randomHex, sampleEvent } from "./sample-event.ts";
import { createInFlight } from "./in-flight.ts";
import { createRetryWorker, type RetryWorker } from "./worker.ts";
import { sharedAbort } from "../model/shared-abort.ts";

export type { WebhookSettings, WebhookHealth } from "./settings.ts";
export type { Deliveries, DeliveryFilter, DeliveryRecord } from "./records.ts";
export type { ReplyMedia } from "./drafts.ts";
export type { LoopGuard, ReplyOutbox } from "./late-replies.ts";
export type { ReplayFilter } from "./replays.ts";

/** As `GET /devices/{number}/webhook` shows it. */
export interface WebhookRecord extends WebhookSettings {
  health: WebhookHealth;
}

interface WebhooksDeps {
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

/** What `POST /devices/{number}/webhook/test` found out. */
export interface WebhookTest {
  /** Null when no answer came. */
  statusCode: number | null;
  durationMs: number;
  /** At most 4 KiB. */
  answer: string | null;
  /** Whether the answer would have been a reply, or silence. */
  understood: boolean;
  error: string | null;
}

/** All that has to do with webhooks, for the message path and for the API. */
export interface Webhooks {
  /** Reads the configurations. Call it before the first message. */
  load(): Promise<void>;
  /** Goes on with what waits for a further attempt. Call it once the gateway is up. */
  start(): void;
  /**
   * Begins no retries any more and waits for attempts under way, those in lanes included, at most `graceMs` (default
   * 5,000); then cuts them off: they do not count. To be called together with the pipeline's drain.
   */
  stop(graceMs?: number): Promise<void>;
  /** The first in the pipeline's list: chats that the webhook holds are its own. */
  holder: Answerer;
  /** The last in the pipeline's list. */
  answerer: Answerer;
  get(deviceId: number): WebhookRecord | null;
  /**
   * Replaces everything but the secret, and holds no failure against it any more. The secret is given back only when it was made now.
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(
    deviceId: number,
    config: Partial<WebhookSettings> & { url: string },
  ): Promise<{ config: WebhookRecord; secret: string | null }>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number): Promise<boolean>;
  /** Both secrets sign for 24 h. Null when there is no webhook. */
  rotate(deviceId: number): Promise<{ config: WebhookRecord; secret: string } | null>;
  /** Posts a sample event and sends nothing to WhatsApp. Null when there is no webhook. */
  test(deviceId: number): Promise<WebhookTest | null>;
  deliveries: Deliveries & Replays;
  /** Seconds that any automatic answer of this number may be late. */
  replyMaxAge(deviceId: number): number;
  /** Forgets a number whose rows were erased. */
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
}

const NUMBER_OF = defineQuery("select number from devices where id = ?", { number: devices.number });

/** Webhooks: configurations, the answerer for the pipeline, retries, and the records of what was delivered. */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
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
  const registry = createRegistry({ store, log, config, checkUrl: (url) => checkUrl(http, url) });
  const deliverer = createDeliverer({
    http,
    time,
    stopping: stopping.signal,
    inFlight,
    onAttempt: deps.onAttempt,
  });
  const drafts = createDrafts({ log, media, time, stopping: stopping.signal });
  const holds = createHolds(store);
  const due = createDueRows(store);
  const records = createDeliveries(store);
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

  function recordOf(webhook: Webhook): WebhookRecord {
    const { deviceId, disabledReason: reason } = webhook;
    const { failures, failingSince, pausedUntil } = breakers.health(deviceId);
    const failing = failingSince === null ? "ok" : pausedUntil === null ? "failing" : "paused";
    const state = webhook.enabled ? failing : "disabled";
    return { ...settingsOf(webhook), health: { state, failures, failingSince, pausedUntil, reason } };
  }

  async function stop(graceMs = 5000): Promise<void> {
    const cancel = store.time.after(graceMs, () => stopping.abort(new Error("The gateway is stopping.")));
    await Promise.all([worker.stop(), inFlight.idle()]);
    cancel();
    await breakers.idle();
  }

  async function test(deviceId: number): Promise<WebhookTest | null> {
    const webhook = registry.get(deviceId);
    if (webhook === null) return null;
    const device = await store.readOne(NUMBER_OF, [deviceId]);
    const event = sampleEvent(device?.number ?? "", store.now());
    const attempt = await deliverer.attempt(webhook, `msg_${randomHex()}`, JSON.stringify(event));
    // Who tests what they have repaired need not wait for the next attempt; a test that fails says nothing new.
    breakers.record(deviceId, attempt, "test");
    const { statusCode, durationMs, answer, error, parsed } = attempt;
    const understood = parsed?.understood ?? false;
    return { statusCode, durationMs, answer: answer && shownAnswer(answer), understood, error };
  }

  return {
    async load() {
      await Promise.all([registry.load(), holds.load(), breakers.load()]);
      // What is held, the oldest of its chat lets go; what comes now comes after it.
      for (const deviceId of await due.numbers())
        if (await due.isBehind(deviceId, Number.NEGATIVE_INFINITY)) breakers.goOn(deviceId);
    },
    start: worker.start,
    stop,
    holder,
    answerer,
    get(deviceId) {
      const webhook = registry.get(deviceId);
      return webhook && recordOf(webhook);
    },
    async put(deviceId, input) {
      const { secret } = await registry.put(deviceId, input);
      await breakers.reset(deviceId);
      return { config: recordOf(registry.get(deviceId)!), secret };
    },
    async remove(deviceId) {
      const existed = await registry.remove(deviceId);
      holds.forget(deviceId);
      breakers.forget(deviceId);
      return existed;
    },
    async rotate(deviceId) {
      const rotated = await registry.rotate(deviceId);
      return rotated && { config: recordOf(registry.get(deviceId)!), secret: rotated.secret };
    },
    test,
    deliveries: {
      ...records,
      ...createReplays({ store, registry, breakers, worker, find: records.find, onDelivery }),
    },
    replyMaxAge: (deviceId) => registry.get(deviceId)?.replyMaxAge ?? WEBHOOK_DEFAULTS.replyMaxAge,
    forget(deviceId) {
      registry.forget(deviceId);
      breakers.forget(deviceId);
      holds.forget(deviceId);
    },
    onClockMoved(ms) {
      holds.onClockMoved(ms);
      worker.sweep();
    },
  };
}

async function checkUrl(http: Pick<SafeFetch, "check">, url: string): Promise<void> {
  try {
    await http.check(url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new GatewayError("URL_NOT_ALLOWED", error.message, { fields: { url: [error.message] } });
  }
}
