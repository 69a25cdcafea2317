import { devices } from "../../drizzle/schema.ts";
import type { Answerer } from "../model/answerer.ts";
import { defineQuery } from "../store/query.ts";
import type { Notices } from "./events/notices.ts";
import { joinParts, type WebhooksDeps } from "./parts.ts";
import { createDeliveries, type Deliveries } from "./records.ts";
import { settingsOf } from "./registry.ts";
import { createReplays, type Replays } from "./replays.ts";
import type { WebhookReply } from "./replies/reply.ts";
import { shownAnswer } from "./rows.ts";
import { randomHex, sampleEvent } from "./events/sample-event.ts";
import { DEFAULT_REPLY_MAX_AGE, type Webhook, type WebhookChange, type WebhookRecord } from "./settings.ts";

export type { WebhookHealth, WebhookRecord, WebhookSettings } from "./settings.ts";
export type { Deliveries, DeliveryFilter, DeliveryRecord } from "./records.ts";
export type { ReplyMedia } from "./replies/drafts.ts";
export type { ReplyGuard, ReplyOutbox } from "./replies/late-replies.ts";
export type { ReplayFilter } from "./replays.ts";

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
  /** What was posted, exactly. */
  request: { url: string; headers: Record<string, string>; body: string };
  /** What would have been sent, in order, and what of the answer would not. */
  replies: WebhookReply[];
  ignored: string[];
  /** Seconds that the webhook would have kept the chat. */
  hold: number | null;
}

/** All that has to do with webhooks, for the message path and for the API. */
export interface Webhooks {
  /** Reads the configurations. Call it before the first message. */
  load(): Promise<void>;
  /**
   * This process has the number from now on: reads what others have found out about its webhook. Call it before its
   * messages go on.
   *
   * @throws StorageUnavailable
   */
  open(deviceId: number): Promise<void>;
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
  /** Of what no message brings: how sent messages and numbers do. */
  notices: Notices;
  get(deviceId: number): WebhookRecord | null;
  /**
   * Replaces everything but the secret, and holds no failure against it any more. The secret is given back only when it was made now.
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(deviceId: number, config: WebhookChange): Promise<{ config: WebhookRecord; secret: string | null }>;
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
  const { store, log, onDelivery } = deps;
  const parts = joinParts(deps);
  const { stopping, inFlight, registry, deliverer, holds, breakers, worker, shared, now } = parts;
  const records = createDeliveries(store);

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
    const request = { url: webhook.url, headers: {}, body: JSON.stringify(event) };
    const attempt = await deliverer.attempt(webhook, `msg_${randomHex()}`, request.body, (headers) => {
      request.headers = headers;
    });
    // Who tests what they have repaired need not wait for the next attempt; a test that fails says nothing new.
    breakers.record(deviceId, attempt, "test");
    const { statusCode, durationMs, answer, error, parsed } = attempt;
    const { understood = false, replies = [], ignored = [], hold = null } = parsed ?? {};
    const said = { answer: answer && shownAnswer(answer), understood, replies, ignored, hold };
    return { statusCode, durationMs, error, request, ...said };
  }

  parts.onGap(() => {
    breakers
      .load()
      .catch((err: unknown) =>
        log.warn({ err }, "reading the state of webhooks later: the database does not answer"),
      );
  });

  return {
    async load() {
      await Promise.all([registry.load(), holds.load(), breakers.load(), shared?.claims.look(0)]);
    },
    async open(deviceId) {
      if (shared === null || registry.get(deviceId) === null) return;
      await breakers.refresh(deviceId);
      // From now on this process tries whether the webhook is back.
      worker.wake(deviceId);
    },
    start: worker.start,
    stop,
    holder: parts.holder,
    answerer: parts.answerer,
    notices: parts.notices,
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
      ...createReplays({ store, now, registry, breakers, worker, find: records.find, onDelivery }),
    },
    replyMaxAge: (deviceId) => registry.get(deviceId)?.replyMaxAge ?? DEFAULT_REPLY_MAX_AGE,
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
