import { createWebhookAnswers } from "./answerer.ts";
import type { Attempt } from "./attempts/deliver.ts";
import { createDueRows } from "./attempts/due.ts";
import { createPosting, type Posting } from "./attempts/posting.ts";
import { createHolds } from "./holds.ts";
import { createNumberListeners } from "./listeners/number-listeners.ts";
import type { NumberWebhook, SharedWebhooks, WebhookNumber } from "./parts.ts";
import { webhookOf } from "./receiver.ts";
import { createDrafts } from "./replies/drafts.ts";
import { createLateReplies } from "./replies/late-replies.ts";

const ACCEPTED: Pick<Attempt, "result" | "retryAfterMs"> = { result: "accepted", retryAfterMs: null };

/** Nothing is read and nothing runs before `load` and `start`. */
export function openWebhook(shared: SharedWebhooks, number: WebhookNumber): NumberWebhook {
  const { registry } = shared;
  const { deviceId } = number;
  const { posting, holds, answers } = joinParts(shared, number);
  const { breaker, queue } = posting;
  const listeners = createNumberListeners(shared, number, createDueRows(number.store));

  return {
    ...answers,
    tellings: listeners.tellings,
    start() {
      queue.start();
      listeners.start();
    },
    wake() {
      queue.wake();
      listeners.wake();
    },
    async load() {
      // Whoever gives it one later begins with nothing.
      const own = registry.get(deviceId) !== null ? [breaker.load(), holds.load()] : [];
      await Promise.all([...own, listeners.load()]);
      queue.wake();
    },
    tryNow(listener) {
      const tried = listener === "" ? posting : listeners.get(listener);
      tried.breaker.tryNow();
      tried.wake();
    },
    // Who tests what they have repaired need not wait for the next attempt.
    worked: () => void breaker.record(ACCEPTED, "test"),
    anew: (listener) => (listener === "" ? posting : listeners.get(listener)).breaker.reset(),
    gone(listener) {
      if (listener !== "") return listeners.gone(listener);
      holds.forget();
      breaker.forget();
    },
    health: (listener) => (listener === "" ? posting : listeners.get(listener)).breaker.health(),
    onClockMoved(ms) {
      holds.onClockMoved(ms);
      queue.wake();
      listeners.wake();
    },
    stop: async () => void (await Promise.all([posting.stop(), listeners.stop()])),
    abort(reason) {
      posting.abort(reason);
      listeners.abort(reason);
    },
  };
}

/** What is posted to a number's webhook, and what its answers mean. */
function joinParts(shared: SharedWebhooks, { deviceId, store, outbox, onLost }: WebhookNumber) {
  const { registry, random, log, files, media, loopGuard, connection, observe } = shared;
  const { time, now } = store;
  const holds = createHolds(store, deviceId);
  const target = webhookOf(deviceId);
  const draftsUntil = (stopping: AbortSignal) =>
    createDrafts({ log, media, findQuote: outbox.findQuote, time, stopping });
  const turned = (to: "paused" | "ok" | "disabled"): void => observe?.({ type: "webhook", deviceId, to });
  const webhook = () => registry.get(deviceId);
  const receiver = registry.atHand(target);
  const posting: Posting = createPosting({ ...shared, target, receiver, store, turned, onLost }, (stopping) =>
    createLateReplies({ webhook, drafts: draftsUntil(stopping), outbox, loopGuard, holds, now }),
  );
  const { stopping, inFlight } = posting;
  const answers = createWebhookAnswers({
    ...posting,
    receiver,
    deviceId,
    webhook,
    store,
    log,
    files,
    random,
    now,
    observe,
    holds,
    inFlight,
    connection,
    drafts: draftsUntil(stopping),
    onDisabled: () => turned("disabled"),
    isClosed: () => stopping.aborted,
  });
  return { posting, holds, answers };
}
