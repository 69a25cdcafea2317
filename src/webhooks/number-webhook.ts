import { sharedAbort } from "../model/shared-abort.ts";
import { createWebhookAnswers } from "./answerer.ts";
import { createBreaker } from "./attempts/breaker.ts";
import { createDeliverer, type Attempt } from "./attempts/deliver.ts";
import { createDueRows } from "./attempts/due.ts";
import { createInFlight } from "./attempts/in-flight.ts";
import { createDeliveryQueue, type DeliveryQueue } from "./attempts/queue.ts";
import { createHolds } from "./holds.ts";
import type { NumberWebhook, SharedWebhooks, WebhookNumber } from "./parts.ts";
import { createDrafts } from "./replies/drafts.ts";
import { createLateReplies } from "./replies/late-replies.ts";

const ACCEPTED: Pick<Attempt, "result" | "retryAfterMs"> = { result: "accepted", retryAfterMs: null };

/** Nothing is read and nothing runs before `load` and `start`. */
export function openWebhook(shared: SharedWebhooks, number: WebhookNumber): NumberWebhook {
  const { registry } = shared;
  const { deviceId } = number;
  const { stopping, inFlight, holds, breaker, queue, answers } = joinParts(shared, number);

  return {
    ...answers,
    start: queue.start,
    wake: queue.wake,
    async load() {
      // Whoever gives it one later begins with nothing.
      if (registry.get(deviceId) !== null) await Promise.all([breaker.load(), holds.load()]);
      queue.wake();
    },
    tryNow() {
      breaker.tryNow();
      queue.wake();
    },
    // Who tests what they have repaired need not wait for the next attempt.
    worked: () => void breaker.record(ACCEPTED, "test"),
    anew: breaker.reset,
    gone() {
      holds.forget();
      breaker.forget();
    },
    health: breaker.health,
    onClockMoved(ms) {
      holds.onClockMoved(ms);
      queue.wake();
    },
    async stop() {
      await Promise.all([queue.stop(), inFlight.idle()]);
      await breaker.idle();
    },
    abort: (reason) => stopping.abort(reason),
  };
}

/** What is posted for a number, and what remembers how that went. */
function joinParts(shared: SharedWebhooks, { deviceId, store, outbox, onLost }: WebhookNumber) {
  const { registry, random, log, files, http, media, loopGuard, connection, observe } = shared;
  const { time, now } = store;
  const stopping = sharedAbort();
  const { signal } = stopping;
  const inFlight = createInFlight();
  const holds = createHolds(store, deviceId);
  const due = createDueRows(store);
  const wake = (): void => queue.wake();
  const breaker = createBreaker({ deviceId, store, now, log, random, wake, observe });
  const deliverer = createDeliverer({ http, time, stopping: signal, inFlight, observe });
  const drafts = createDrafts({ log, media, findQuote: outbox.findQuote, time, stopping: signal });
  const posts = {
    deviceId,
    store,
    log,
    registry,
    breaker,
    due,
    deliverer,
    files,
    random,
    now,
    observe,
    onDisabled: () => observe?.({ type: "webhook", deviceId, to: "disabled" }),
  };
  const queue: DeliveryQueue = createDeliveryQueue({
    ...posts,
    lateReplies: createLateReplies({ drafts, outbox, loopGuard, holds, now }),
    share: shared.shares.of(deviceId, breaker.slots),
    onLost,
  });
  const isClosed = (): boolean => signal.aborted;
  const answers = createWebhookAnswers({ ...posts, drafts, holds, queue, inFlight, connection, isClosed });
  return { stopping, inFlight, holds, breaker, queue, answers };
}
