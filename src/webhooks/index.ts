import { devices } from "../../drizzle/schema.ts";
import type { Answer, Answerer } from "../model/answerer.ts";
import { defineQuery } from "../store/query.ts";
import { createNotices, type Notices } from "./events/notices.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { NO_NEWS } from "../model/nodes/news.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { OutboundError } from "../net/errors.ts";
import { createDeliverer } from "./attempts/deliver.ts";
import { createDueRows } from "./attempts/due.ts";
import { createInFlight } from "./attempts/in-flight.ts";
import { createAttemptShares } from "./attempts/shares.ts";
import { createSweep } from "./attempts/sweep.ts";
import { openWebhook } from "./number-webhook.ts";
import {
  createTries,
  type NumberWebhook,
  type SharedWebhooks,
  type WebhookNumber,
  type WebhooksDeps,
} from "./parts.ts";
import { createListeners } from "./listeners/listeners.ts";
import { createListenerManagement, type ListenerManagement } from "./listeners/management.ts";
import { createWebhookManagement, type WebhookManagement } from "./management.ts";
import type { Target } from "./receiver.ts";
import type { RegistryDeps } from "./receivers.ts";
import { createDeliveries, type Deliveries } from "./records.ts";
import { createRegistry } from "./registry.ts";
import { createReplays, type Replays } from "./replays.ts";
import type { WebhookReply } from "./replies/reply.ts";
import { shownAnswer } from "./rows.ts";
import { randomHex, sampleEvent } from "./events/sample-event.ts";
import { DEFAULT_REPLY_MAX_AGE, type Webhook } from "./settings.ts";

export type { WebhookHealth, WebhookRecord, WebhookSettings } from "./settings.ts";
export type { ListenerRecord } from "./listeners/settings.ts";
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
export interface Webhooks extends WebhookManagement {
  /** Reads the configurations. Call it before the first message. */
  load(): Promise<void>;
  /** This process has the number from now on: what waits for an attempt goes on with `load` and `start`. */
  open(number: WebhookNumber): NumberWebhook;
  /** Looks for what waits, now and every minute. Call it once the gateway is up. */
  start(): void;
  /** Ends that, and what is posted to try a webhook after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** The first in the pipeline's list: chats that the webhook holds are its own. */
  holder: Answerer;
  /** The last in the pipeline's list that may answer. */
  answerer: Answerer;
  /** Behind it: never answers. */
  listener: Answerer;
  /** Of what no message brings: how sent messages and numbers do. */
  notices: Notices;
  /** Posts a sample event and sends nothing to WhatsApp. Null when there is no webhook. */
  test(deviceId: number): Promise<WebhookTest | null>;
  listeners: ListenerManagement;
  deliveries: Deliveries & Replays;
  /** Seconds that any automatic answer of this number may be late. */
  replyMaxAge(deviceId: number): number;
  /** Forgets a number whose rows were erased. */
  forget(deviceId: number): void;
}

const NUMBER_OF = defineQuery("select number from devices where id = ?", { number: devices.number });
const PASSES: Answer = { kind: "pass", trail: [] };

/** Webhooks: configurations, answerers for the pipeline, what each number posts, and the records of what was delivered. */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { store, opened, news = NO_NEWS, random = Math.random, accountOf = () => null } = deps;
  const kept: RegistryDeps = {
    ...deps,
    news,
    checkUrl: (url) => checkUrl(deps.http, url),
    onGone: ({ deviceId, listener }) => opened(deviceId)?.gone(listener),
    onAnew: ({ deviceId, listener }) => void opened(deviceId)?.anew(listener),
  };
  const registry = createRegistry(kept);
  const listeners = createListeners(kept);
  const shared: SharedWebhooks = {
    ...deps,
    registry,
    listeners,
    random,
    shares: createAttemptShares(accountOf),
    listenerShares: createAttemptShares(accountOf),
  };
  const tries = createTries(deps);
  const tests = createTests(deps, registry.get, tries.tell);
  const sweep = createSweep({ ...deps, numbers: createDueRows(store).numbers });
  const records = createDeliveries(store);
  const tryNow = (target: Target): void => tries.tell(target, false);

  return {
    load: async () => void (await Promise.all([registry.load(), listeners.load()])),
    open: (number) => openWebhook(shared, number),
    start: sweep.start,
    async stop(graceMs) {
      sweep.stop();
      await tests.stop(graceMs);
    },
    ...answerers(opened),
    notices: createNotices({
      ...deps,
      now: store.now,
      registry,
      listeners,
      wake: (deviceId) => opened(deviceId)?.wake(),
    }),
    ...createWebhookManagement({ store, registry, opened }),
    test: tests.test,
    listeners: createListenerManagement({ store, listeners, opened }),
    deliveries: {
      ...records,
      ...createReplays({ ...deps, registry, listeners, tryNow, find: records.find }),
    },
    replyMaxAge: (deviceId) => registry.get(deviceId)?.replyMaxAge ?? DEFAULT_REPLY_MAX_AGE,
    forget(deviceId) {
      registry.forget(deviceId);
      listeners.forget(deviceId);
    },
  };
}

/** Places of a webhook, and of listeners, in the list of answerers. Whoever asks has the number. */
function answerers(opened: WebhooksDeps["opened"]): Pick<Webhooks, "holder" | "answerer" | "listener"> {
  const described = { name: "webhook", ignoresTakeover: true };
  return {
    holder: {
      ...described,
      answer: async (stored, asked) => (await opened(stored.deviceId)?.hold(stored, asked)) ?? PASSES,
    },
    answerer: {
      ...described,
      answer: async (stored, asked) => (await opened(stored.deviceId)?.answer(stored, asked)) ?? PASSES,
      forward: (stored, ...told) => opened(stored.deviceId)?.forward(stored, ...told) ?? null,
    },
    listener: {
      name: "listeners",
      ignoresTakeover: true,
      answer: async (stored) => opened(stored.deviceId)?.tellings.answer(stored) ?? PASSES,
      forward: (stored, handledBy) => opened(stored.deviceId)?.tellings.forward(stored, handledBy) ?? null,
    },
  };
}

/** Sample events, which any node may post. */
function createTests(
  { store, http }: WebhooksDeps,
  webhookOf: (deviceId: number) => Webhook | null,
  tell: (target: Target, worked: boolean) => void,
) {
  const stopping = sharedAbort();
  const inFlight = createInFlight();
  const deliverer = createDeliverer({ http, time: store.time, stopping: stopping.signal, inFlight });
  return {
    async test(deviceId: number): Promise<WebhookTest | null> {
      const webhook = webhookOf(deviceId);
      if (webhook === null) return null;
      const device = await store.readOne(NUMBER_OF, [deviceId]);
      const event = sampleEvent(device?.number ?? "", store.now());
      const request = { url: webhook.url, headers: {}, body: JSON.stringify(event) };
      const attempt = await deliverer.attempt(webhook, `msg_${randomHex()}`, request.body, (headers) => {
        request.headers = headers;
      });
      // A test that fails says nothing new.
      if (attempt.result === "accepted") tell(webhook, true);
      const { statusCode, durationMs, answer, error, parsed } = attempt;
      const { understood = false, replies = [], ignored = [], hold = null } = parsed ?? {};
      const said = { answer: answer && shownAnswer(answer), understood, replies, ignored, hold };
      return { statusCode, durationMs, error, request, ...said };
    },
    async stop(graceMs: number): Promise<void> {
      const cancel = store.time.after(graceMs, () => stopping.abort(new Error("The gateway is stopping.")));
      await inFlight.idle();
      cancel();
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
