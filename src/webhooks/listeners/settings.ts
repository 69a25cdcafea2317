import { z } from "zod";
import { flag, list, recipient, text } from "../../model/fields.ts";
import { WEBHOOK_EVENTS, type WebhookEventName } from "../../model/webhook-words.ts";
import type { Receiver } from "../receiver.ts";
import { DEFAULT_EVENTS, receiverFields, webhookHealth, type WebhookHealth } from "../settings.ts";

/** Listeners that a number may have beside its webhook. */
export const MOST_LISTENERS = 5;
const MOST_PATTERNS = 1000;
const MOST_BOTS = 100;

const { url, events, headers, timeout_ms } = receiverFields;
/** Null, and an empty list: every chat. */
const chats = list(recipient(), 0, MOST_PATTERNS).nullable().optional();
/** Messages that these have answered. Null, and an empty list: all messages. */
const bots = list(text(1, 100), 0, MOST_BOTS).nullable().optional();

/** Input that makes a listener; what is left out has its default. */
export const newListener = z.object({
  url,
  events: events.default(DEFAULT_EVENTS),
  chats,
  bots,
  headers: headers.default({}),
  timeout_ms: timeout_ms.optional(),
  enabled: flag().default(true),
});

/** Input that changes one; what is left out stays. */
export const listenerChange = z.object({
  url: url.optional(),
  events: events.optional(),
  chats,
  bots,
  headers: headers.optional(),
  timeout_ms: timeout_ms.optional(),
  enabled: flag().optional(),
});

/** A listener as answers show it. */
export const listener = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    chats: z.array(z.string()).nullable().meta({ description: "Null: every chat" }),
    bots: z.array(z.string()).nullable().meta({ description: "Messages that these answered; null: all" }),
    headers: z.record(z.string(), z.string()),
    timeout_ms: z.int(),
    enabled: z.boolean(),
    health: webhookHealth,
  })
  .meta({ id: "Listener" });

/** What a listener is told of, and how. */
export interface ListenerSettings {
  url: string;
  events: WebhookEventName[];
  /** Patterns of chats; null: all of them. */
  chats: string[] | null;
  /** Ids of bots whose messages it is told of; null: all messages. */
  bots: string[] | null;
  headers: Record<string, string>;
  timeoutMs: number;
  enabled: boolean;
}

/** With what only Parley sees. `listener` is its id. */
export interface Listener extends ListenerSettings, Receiver {
  /** Unix milliseconds. */
  createdAt: number;
}

/** A listener as it is shown. */
export interface ListenerRecord extends ListenerSettings {
  id: string;
  health: WebhookHealth;
}
