import { devices } from "../../../drizzle/schema.ts";
import { defineQuery } from "../../store/query.ts";
import { NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import type { SecretBox, Store } from "../../store/store.ts";
import { isActive, type Registry } from "../registry.ts";
import { deliveryId, insertDelivery, type Delivery } from "../rows.ts";
import {
  deviceEvent,
  readEvent,
  statusEvent,
  type ReadElsewhere,
  type SentStanding,
  type StandingOf,
  type StateEvent,
} from "./state-events.ts";
import { happeningEvent, type Happening, type HappeningEvent } from "./happening-events.ts";
import type { WebhookEvent } from "../webhook-event.ts";

interface NoticesDeps {
  store: Pick<Store, "box" | "readOne">;
  /** Unix milliseconds. */
  now: () => number;
  registry: Pick<Registry, "get">;
  /** Something of the number may go now. */
  wake(deviceId: number): void;
  observe?: (event: WebhookEvent) => void;
}

/** A message of ours in a new state. */
export interface ReachedState extends Omit<SentStanding, "device"> {
  outboxId: number;
  deviceId: number;
  /** Number that sends it, digits. */
  sender: string;
}

/**
 * Events that no message brings: what became of messages that were sent, and how numbers do. Their rows belong into the
 * commit of what they tell of; they are posted by the number's queue, in the order of their chat, and never answered.
 */
export interface Notices {
  /** Whether the number's webhook wants to know what becomes of messages. */
  listens(deviceId: number): boolean;
  reached(reached: ReachedState[]): Intake;
  /** WhatsApp lets a number write to nobody new. @param until Unix milliseconds; null: it does again */
  locked(deviceId: number, until: number | null): Promise<Intake>;
  /** The owner has read messages on another device of the number. */
  read(deviceId: number, reading: Omit<ReadElsewhere, "number">): Promise<Intake>;
  /** What people do, and no message tells of. */
  happened(deviceId: number, happenings: readonly Happening[]): Promise<Intake>;
  /** A number is in another state. */
  moved(deviceId: number, standing: StandingOf): Intake;
}

const NUMBER = defineQuery("select number, state from devices where id = ?", {
  number: devices.number,
  state: devices.state,
});

type Posted = StateEvent | HappeningEvent;

interface Notice {
  /** What makes it this one and no other of its number: told twice, it is posted once. */
  key: string;
  /** Canonical key of the chat in whose order it is posted. */
  chat: string;
  event(id: string): Posted;
}

/** Notices for the webhooks of all numbers. */
export function createNotices({ store, now, registry, wake, observe }: NoticesDeps): Notices {
  const { box } = store;

  function webhookFor(deviceId: number, name: Posted["type"]) {
    const webhook = registry.get(deviceId);
    return webhook !== null && isActive(webhook) && webhook.events.includes(name) ? webhook : null;
  }

  function post(deviceId: number, name: Posted["type"], notices: Notice[]): Intake {
    const webhook = webhookFor(deviceId, name);
    if (webhook === null || notices.length === 0) return NO_INTAKE;
    const deliveries = notices.map((notice) => deliveryOf(box, deviceId, notice, now()));
    return {
      statements: deliveries.map((delivery) => {
        const progress = { state: "pending", nextAt: delivery.createdAt } as const;
        return insertDelivery(box, delivery, webhook.url, progress, "behind");
      }),
      committed() {
        wake(deviceId);
        for (const { id } of deliveries) observe?.({ type: "delivery", deviceId, id });
      },
    };
  }

  function moved(deviceId: number, standing: StandingOf, key: string): Intake {
    const chat = `${standing.number}@s.whatsapp.net`;
    return post(deviceId, "device", [{ key, chat, event: (id) => deviceEvent(id, standing) }]);
  }

  return {
    listens: (deviceId) => webhookFor(deviceId, "status") !== null,

    reached(reached) {
      const [first] = reached;
      if (first === undefined) return NO_INTAKE;
      const notices = reached.map(({ outboxId, sender, ...standing }): Notice => ({
        key: `status:${outboxId}:${standing.state}`,
        chat: standing.chat,
        event: () => statusEvent({ ...standing, device: sender }),
      }));
      return post(first.deviceId, "status", notices);
    },

    async read(deviceId, { waIds, ...told }) {
      if (webhookFor(deviceId, "read") === null) return NO_INTAKE;
      const known = await store.readOne(NUMBER, [deviceId]);
      if (known === null) return NO_INTAKE;
      const where = { ...told, number: known.number };
      const notices = waIds.map((waId): Notice => {
        return { key: `read:${where.chat}:${waId}`, chat: where.chat, event: () => readEvent(waId, where) };
      });
      return post(deviceId, "read", notices);
    },

    async happened(deviceId, happenings) {
      const wanted = happenings.filter(({ type }) => webhookFor(deviceId, type) !== null);
      const known = wanted.length === 0 ? null : await store.readOne(NUMBER, [deviceId]);
      if (known === null) return NO_INTAKE;
      // All of them are of one type.
      const notices = wanted.map((happening): Notice => ({
        key: `${happening.type}:${happening.chat}:${happening.key}`,
        chat: happening.chat,
        event: (id) => happeningEvent(id, known.number, happening),
      }));
      return post(deviceId, wanted[0]!.type, notices);
    },

    async locked(deviceId, until) {
      if (webhookFor(deviceId, "device") === null) return NO_INTAKE;
      const known = await store.readOne(NUMBER, [deviceId]);
      if (known === null) return NO_INTAKE;
      const standing = { ...known, at: now(), reason: until === null ? null : "reachout_locked", until };
      return moved(deviceId, standing, `device:locked:${until ?? `ended ${now()}`}`);
    },

    moved: (deviceId, standing) => moved(deviceId, standing, `device:${standing.state}:${standing.at}`),
  };
}

function deliveryOf(
  box: SecretBox,
  deviceId: number,
  { key, chat, event }: Notice,
  createdAt: number,
): Delivery {
  const id = deliveryId(box, deviceId, key);
  const posted = event(id);
  return {
    id,
    deviceId,
    inboxId: 0,
    messageId: posted.id,
    chat,
    type: posted.type,
    attempts: 0,
    mayReply: false,
    createdAt,
    body: JSON.stringify(posted),
    target: { jid: chat, chat, quote: null, timestamp: posted.timestamp },
    reply: null,
  };
}
