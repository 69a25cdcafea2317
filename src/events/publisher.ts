import type { Incoming } from "../model/messages.ts";
import type { StoredMessage, TrailEntry } from "../model/answerer.ts";
import type { EventName } from "./event.ts";
import type { Events } from "./events.ts";

/** What was decided about one message. */
export interface Decided {
  by: string | null;
  route: string | null;
  guard: string | null;
  trail: TrailEntry[];
}

/** What telling of events takes. */
interface PublisherDeps {
  events: Pick<Events, "hasListeners" | "publish">;
  now: () => number;
  /** Null once the number is erased. */
  device(deviceId: number): { accountId: string; number: string } | null;
  /** Of the event for the webhook that a message's decision has stored, if it has. */
  deliveryOf(stored: StoredMessage): string;
  findMessage(accountId: string, waId: string): Promise<unknown>;
  findDelivery(accountId: string, id: string): Promise<unknown>;
  /** Null when the number has none any more. */
  webhook(deviceId: number): Promise<object | null>;
}

/** What the parts of the gateway call when something has happened. Cheap while nobody listens; never throws. */
interface Publisher {
  device(event: { deviceId: number; record: object }): void;
  /** New messages are in the inbox. */
  received(event: { messages: readonly { deviceId: number; message: Incoming }[] }): void;
  decided(event: { stored: StoredMessage; decision: Decided }): void;
  /** The owner has read a message on another device of the number. */
  read(event: { deviceId: number; waId: string; chat: string; at: number }): void;
  /** Something that people do, and that no message tells of. */
  happened(event: { deviceId: number; happening: { type: "group" | "presence" | "contact" } }): void;
  /** A message of ours is in another state. */
  message(event: { deviceId: number; waId: string }): void;
  delivery(event: { deviceId: number; id: string }): void;
  /** A webhook is paused, used again, or switched off. */
  webhook(event: { deviceId: number }): void;
}

/** Turns what happens into events of accounts. */
export function createPublisher({
  events,
  now,
  device,
  deliveryOf,
  findMessage,
  findDelivery,
  webhook,
}: PublisherDeps): Publisher {
  function publish(
    deviceId: number,
    name: EventName,
    record: (of: { accountId: string; number: string }) => unknown | Promise<unknown>,
    key?: () => string,
  ): void {
    const of = device(deviceId);
    if (of === null || !events.hasListeners(of.accountId)) return;
    events.publish(of.accountId, { name, number: of.number, key: key?.(), record: () => record(of) });
  }

  /** The id is worked out only when somebody listens. */
  function tellOfDelivery(deviceId: number, id: () => string): void {
    const find = ({ accountId }: { accountId: string }) => findDelivery(accountId, id());
    publish(deviceId, "delivery", find, () => `delivery:${id()}`);
  }

  return {
    device({ deviceId, record }) {
      // The record goes on changing; what is told is what held now.
      const then = { ...record };
      publish(deviceId, "device", () => then);
    },

    received({ messages }) {
      for (const { deviceId, message } of messages)
        if (!message.fromMe && message.chatKind !== "status") publish(deviceId, "message.in", () => message);
    },

    decided({ stored, decision: { by, route, guard, trail } }) {
      const { deviceId, message } = stored;
      if (message.chatKind === "status") return;
      const at = now();
      const chat = message.chatKey.replace(/@s\.whatsapp\.net$/, "");
      publish(deviceId, "decision", ({ number }) => ({
        messageId: message.id,
        device: number,
        chat,
        by,
        route,
        guard,
        trail,
        at,
      }));
      tellOfDelivery(deviceId, () => deliveryOf(stored));
    },

    read: ({ deviceId, waId, chat, at }) => publish(deviceId, "read", () => ({ waId, chat, at })),

    happened: ({ deviceId, happening }) => publish(deviceId, happening.type, () => happening),

    message({ deviceId, waId }) {
      const key = (): string => `message:${deviceId}:${waId}`;
      publish(deviceId, "message.out", ({ accountId }) => findMessage(accountId, waId), key);
    },

    delivery: ({ deviceId, id }) => tellOfDelivery(deviceId, () => id),

    webhook({ deviceId }) {
      // What is told is what held now: it may have turned again when somebody reads it.
      const then = webhook(deviceId);
      // Whoever reads it is told.
      then.catch(() => undefined);
      publish(deviceId, "webhook", () => then);
    },
  };
}
