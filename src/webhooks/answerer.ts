import type { Logger } from "../log.ts";
import type { Incoming } from "../model/messages.ts";
import type {
  Answer,
  Answerer,
  Asked,
  Forward,
  MessageNotes,
  StoredMessage,
  TrailEntry,
} from "../model/answerer.ts";
import type { Statement, Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import { NotOwner } from "../store/errors.ts";
import type { Breaker } from "./attempts/breaker.ts";
import { progressAfter, type Attempt, type Deliverer } from "./attempts/deliver.ts";
import type { Drafts, PreparedReply } from "./replies/drafts.ts";
import type { DueRows } from "./attempts/due.ts";
import type { Webhook } from "./settings.ts";
import { postedBody, type EventFiles } from "./events/files.ts";
import { messageDelivery } from "./events/message-delivery.ts";
import { heldBy, type Holds } from "./holds.ts";
import { eventName } from "./events/payload.ts";
import { isActive } from "./receiver.ts";
import type { ReceiverAtHand } from "./receivers.ts";
import { insertAttempt, insertDelivery, type Delivery } from "./rows.ts";
import { switchOffAfter } from "./switch-off.ts";
import type { InFlight } from "./attempts/in-flight.ts";
import type { DeliveryQueue } from "./attempts/queue.ts";
import type { WebhookEvent } from "./webhook-event.ts";

interface WebhookAnswererDeps {
  deviceId: number;
  store: Store;
  log: Logger;
  webhook(): Webhook | null;
  receiver: Pick<ReceiverAtHand<Webhook>, "get" | "disabling">;
  deliverer: Deliverer;
  drafts: Drafts;
  files: EventFiles;
  inFlight: InFlight;
  breaker: Breaker;
  due: Pick<DueRows, "anotherWaits">;
  /** Unix milliseconds. */
  now: () => number;
  queue: Pick<DeliveryQueue, "attempted" | "expect" | "run" | "wake">;
  holds: Pick<Holds, "holds" | "keep">;
  observe?: ((event: WebhookEvent) => void) | undefined;
  /** The webhook was switched off. */
  onDisabled?: () => void;
  /** Null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "markRead" | "showState"> | null;
  /** 0 to 1. */
  random: () => number;
  /** The number is another process's by now, or nobody's: nothing follows from what is answered. */
  isClosed(): boolean;
}

/** Until the queue looks for a row that is part of a message's commit. */
const COMMIT_TAKES_MS = 1_000;
/** So long a message that may be answered holds its chat for what is told before it. The second attempt of that comes by then. */
const LONGEST_HOLD_MS = 6_000;

/** How one number's webhook answers. */
export interface WebhookAnswers {
  /** Asked first: takes the messages of chats that the webhook holds, whatever bots would say. */
  hold: Answerer["answer"];
  /** Asked last. */
  answer: Answerer["answer"];
  forward: Required<Answerer>["forward"];
}

/**
 * Asks the number's webhook. The first attempt is made here, in the chat's lane; its row joins the message's commit. A
 * crash in between means the same event under the same `webhook-id` once more. Attempts after the first are the queue's.
 */
export function createWebhookAnswers(deps: WebhookAnswererDeps): WebhookAnswers {
  const { deviceId, store, breaker, deliverer, drafts, files, inFlight, queue, holds } = deps;
  const { now } = deps;

  async function hold(stored: StoredMessage, { notes }: Asked): Promise<Answer> {
    const { message } = stored;
    const webhook = wanted(deps.webhook(), message, null);
    if (webhook === null || !holds.holds(message.chatKey)) return { kind: "pass", trail: [] };
    notes.postedToWebhook = true;
    const answer = await inFlight.track(ask(stored, webhook));
    if (answer.kind === "answer") return answer;
    // Silence is the webhook's to choose, and a failed attempt is made again: nobody else answers meanwhile.
    return { ...answer, kind: "answer", by: "webhook", route: null, replies: [] };
  }

  async function answer(stored: StoredMessage): Promise<Answer> {
    const webhook = wanted(deps.webhook(), stored.message, null);
    if (webhook === null) return { kind: "pass", trail: [] };
    // As a whole: files of the answer are fetched after the attempt has ended.
    return inFlight.track(ask(stored, webhook));
  }

  async function ask(stored: StoredMessage, webhook: Webhook): Promise<Answer> {
    const mayReply = !stored.message.fromMe;
    const delivery = deliveryFor(deps, stored, webhook, null, mayReply);
    const waitsFor = await turnOf(deps, delivery);
    if (waitsFor !== null) return wait(delivery, webhook, waitsFor);
    const presence = showPresence(deps, stored, webhook, mayReply);
    try {
      const body = await postedBody(files, delivery);
      const attempt = await deliverer.attempt(webhook, delivery.id, body);
      const outcome = attempt.parsed && (await drafts.of(attempt.parsed, delivery, webhook));
      // What it means for the endpoint is for whoever can keep it: the next owner posts the event again.
      if (deps.isClosed()) throw new NotOwner(deviceId);
      return conclude(deps, webhook, delivery, attempt, outcome);
    } finally {
      presence.done();
    }
  }

  /** Nothing is posted now: the chat goes on, and the queue posts it in its turn. */
  function wait(delivery: Delivery, webhook: Webhook, waitsFor: WaitsFor): Answer {
    const progress = { state: "retrying", nextAt: delivery.createdAt } as const;
    queue.expect(now() + COMMIT_TAKES_MS);
    const trail = [{ by: "webhook", outcome: "not_asked", detail: WAITS_FOR[waitsFor] }];
    const row = insertDelivery(store.box, delivery, webhook.url, progress, ORDER[waitsFor]);
    return { kind: "pass", trail, statements: [row] };
  }

  function forward(
    stored: StoredMessage,
    handledBy: string | null,
    { postedToWebhook }: MessageNotes,
  ): Forward | null {
    if (postedToWebhook) return null;
    const webhook = wanted(deps.webhook(), stored.message, handledBy);
    if (webhook === null) return null;
    const delivery = deliveryFor(deps, stored, webhook, handledBy, false);
    const progress = { state: "pending", nextAt: delivery.createdAt } as const;
    const order = ORDER[breaker.isOpen() ? "webhook" : "chat"];
    return {
      statements: [insertDelivery(store.box, delivery, webhook.url, progress, order)],
      async afterCommit() {
        if ((await mustWait(deps, delivery)) !== null) return queue.wake();
        const presence = showPresence(deps, stored, webhook, false);
        await queue.run(delivery);
        presence.done();
      },
    };
  }

  return { hold, answer, forward };
}

/** What follows from the first attempt, for the message's commit. */
function conclude(
  deps: WebhookAnswererDeps,
  webhook: Webhook,
  delivery: Delivery,
  attempt: Attempt,
  outcome: PreparedReply | null,
): Answer {
  const { now, queue, holds } = deps;
  const { box } = deps.store;
  const made: Delivery = { ...delivery, attempts: 1 };
  const switchedOff = switchOffAfter(deps, webhook, attempt);
  // At once, so that no other chat posts any more; the row follows with the commit.
  switchedOff?.committed();
  const progress = progressAfter(attempt, 1, now(), deps.random);
  if (progress.state === "dead") deps.observe?.({ type: "deliveryDead", deviceId: webhook.deviceId });
  const statements = [insertAttempt(box, delivery.id, 1, attempt)];
  if (progress.nextAt !== null) queue.expect(progress.nextAt);
  if (switchedOff) statements.push(...switchedOff.statements);
  const trail = [trailOf(attempt, outcome)];
  if (outcome === null) {
    return {
      kind: "pass",
      trail,
      statements: [insertDelivery(box, made, webhook.url, progress), ...statements],
    };
  }
  const { replies, reply } = outcome;
  statements.push(...heldBy(holds, attempt, made));
  const insert = (ids: string[]): Statement =>
    insertDelivery(box, { ...made, reply: { ...reply, ids } }, webhook.url, progress);
  if (replies.length === 0) return { kind: "pass", trail, statements: [insert([]), ...statements] };
  const onReplies = (ids: string[]): Statement[] => [insert(ids)];
  return { kind: "answer", by: "webhook", route: null, replies, trail, statements, onReplies };
}

/** What an event waits for: its webhook is away, or something older of its chat is on its way. */
type WaitsFor = "webhook" | "chat";

/** The webhook is away, or something older of the chat is still on its way to it. */
async function mustWait(
  { breaker, due }: Pick<WebhookAnswererDeps, "breaker" | "due">,
  delivery: Delivery,
): Promise<WaitsFor | null> {
  if (breaker.isOpen()) return "webhook";
  return (await due.anotherWaits(delivery)) ? "chat" : null;
}

/**
 * What is told before it is waited for, so that its answer leaves before those to later messages: a run that was killed may
 * have left some. Behind a receiver that was away for long, more waits than a chat can be held for.
 *
 * @returns null: it is its turn
 */
async function turnOf(deps: WebhookAnswererDeps, delivery: Delivery): Promise<WaitsFor | null> {
  const { breaker, queue, store } = deps;
  const { monotonic } = store.time;
  let waitsFor = await mustWait(deps, delivery);
  const until = monotonic() + LONGEST_HOLD_MS;
  while (waitsFor === "chat" && monotonic() < until && !breaker.isCatchingUp() && !deps.isClosed()) {
    // Before the table is read again: what ends meanwhile is not missed.
    const attempted = queue.attempted(delivery.chat, until - monotonic());
    waitsFor = await mustWait(deps, delivery);
    if (waitsFor !== "chat") break;
    queue.wake();
    if (!(await attempted)) break;
    waitsFor = await mustWait(deps, delivery);
  }
  return waitsFor;
}

const WAITS_FOR: Record<WaitsFor, string> = {
  webhook: "the webhook keeps failing; the message waits",
  chat: "an earlier message of the chat is on its way to the webhook; this one follows it",
};
const ORDER = { webhook: "behind", chat: "in turn" } as const satisfies Record<WaitsFor, string>;

/** The webhook, when it is to be told of this message. */
function wanted(webhook: Webhook | null, message: Incoming, handledBy: string | null): Webhook | null {
  if (webhook === null || !isActive(webhook)) return null;
  if (handledBy !== null && webhook.mode !== "always") return null;
  const name = eventName(message);
  return name !== null && webhook.events.includes(name) ? webhook : null;
}

function deliveryFor(
  deps: Pick<WebhookAnswererDeps, "store" | "files" | "now">,
  stored: StoredMessage,
  { replyTo }: Webhook,
  handledBy: string | null,
  mayReply: boolean,
): Delivery {
  return messageDelivery(deps, stored, {
    listener: "",
    handledBy,
    mayReply,
    privately: replyTo === "sender",
  });
}

function trailOf(attempt: Attempt, made: PreparedReply | null): TrailEntry {
  if (made === null) return { by: "webhook", outcome: "failed", detail: attempt.error ?? "" };
  const outcome = made.replies.length > 0 ? "answered" : "passed";
  return { by: "webhook", outcome, detail: `HTTP ${attempt.statusCode}` };
}

/** Read marks and "typing" are a courtesy: whatever goes wrong with them does not matter to the message. */
function showPresence(
  { connection, log }: WebhookAnswererDeps,
  { deviceId, message }: StoredMessage,
  { read, typing }: Webhook,
  mayReply: boolean,
): { done(): void } {
  const line = (read || typing) && !message.fromMe ? connection(deviceId) : null;
  const quietly = (work: Promise<void>): void =>
    void work.catch((error: unknown) =>
      log.debug({ err: error, device: deviceId }, "could not show presence"),
    );
  if (line === null) return { done: () => undefined };
  if (read) quietly(line.markRead([message]));
  if (!typing || !mayReply) return { done: () => undefined };
  quietly(line.showState(message.chat, "typing"));
  return { done: () => quietly(line.showState(message.chat, "paused")) };
}
