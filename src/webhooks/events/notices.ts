import { devices } from "../../../drizzle/schema.ts";
import { defineQuery } from "../../store/query.ts";
import { NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import type { SecretBox, Store } from "../../store/store.ts";
import type { Listeners } from "../listeners/listeners.ts";
import { hears } from "../listeners/tellings.ts";
import { isActive, type Receiver, type Target } from "../receiver.ts";
import type { Registry } from "../registry.ts";
import { publicAddress } from "./payload.ts";
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
  listeners: Pick<Listeners, "of">;
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
 * commit of what they tell of; they are posted by the receivers' queues, in the order of their chat, and never answered.
 */
export interface Notices {
  /** Whether the number's webhook, or a listener, wants to know what becomes of messages. */
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

/** Notices for the webhooks and listeners of all numbers. */
export function createNotices(deps: NoticesDeps): Notices {
  const { store, now } = deps;
  const { isToldOf, post } = createPosts(deps);

  function moved(deviceId: number, standing: StandingOf, key: string): Intake {
    const chat = `${standing.number}@s.whatsapp.net`;
    return post(deviceId, "device", [{ key, chat, event: (id) => deviceEvent(id, standing) }]);
  }

  return {
    listens: (deviceId) => isToldOf(deviceId, "status"),

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
      if (!isToldOf(deviceId, "read")) return NO_INTAKE;
      const known = await store.readOne(NUMBER, [deviceId]);
      if (known === null) return NO_INTAKE;
      const where = { ...told, number: known.number };
      const notices = waIds.map((waId): Notice => {
        return { key: `read:${where.chat}:${waId}`, chat: where.chat, event: () => readEvent(waId, where) };
      });
      return post(deviceId, "read", notices);
    },

    async happened(deviceId, happenings) {
      const wanted = happenings.filter(({ type }) => isToldOf(deviceId, type));
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
      if (!isToldOf(deviceId, "device")) return NO_INTAKE;
      const known = await store.readOne(NUMBER, [deviceId]);
      if (known === null) return NO_INTAKE;
      const standing = { ...known, at: now(), reason: until === null ? null : "reachout_locked", until };
      return moved(deviceId, standing, `device:locked:${until ?? `ended ${now()}`}`);
    },

    moved: (deviceId, standing) => moved(deviceId, standing, `device:${standing.state}:${standing.at}`),
  };
}

/** Who is told of what, and the deliveries that tell them. */
function createPosts({ store, now, registry, listeners, wake, observe }: NoticesDeps) {
  const { box } = store;

  /** @param chat null: the event is about none, or any will do */
  function toldOf(deviceId: number, name: Posted["type"], chat: string | null): Receiver[] {
    const webhook = registry.get(deviceId);
    const isWanted = webhook !== null && isActive(webhook) && webhook.events.includes(name);
    const place = chat === null ? null : { destination: publicAddress(chat), aliases: [] };
    const told = listeners.of(deviceId).filter((listener) => hears(listener, name, place));
    return isWanted ? [webhook, ...told] : told;
  }

  const isToldOf = (deviceId: number, name: Posted["type"]): boolean =>
    toldOf(deviceId, name, null).length > 0;

  function post(deviceId: number, name: Posted["type"], notices: Notice[]): Intake {
    const posts = notices.flatMap((notice) =>
      // A number's own state is about no chat.
      toldOf(deviceId, name, name === "device" ? null : notice.chat).map(({ listener, url }) => ({
        delivery: deliveryOf(box, { deviceId, listener }, notice, now()),
        url,
      })),
    );
    if (posts.length === 0) return NO_INTAKE;
    return {
      statements: posts.map(({ delivery, url }) => {
        const progress = { state: "pending", nextAt: delivery.createdAt } as const;
        return insertDelivery(box, delivery, url, progress, "behind");
      }),
      committed() {
        wake(deviceId);
        for (const { delivery } of posts) observe?.({ type: "delivery", deviceId, id: delivery.id });
      },
    };
  }

  return { isToldOf, post };
}

function deliveryOf(
  box: SecretBox,
  { deviceId, listener }: Target,
  { key, chat, event }: Notice,
  createdAt: number,
): Delivery {
  const id = deliveryId(box, deviceId, key, listener);
  const posted = event(id);
  return {
    id,
    deviceId,
    listener,
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
