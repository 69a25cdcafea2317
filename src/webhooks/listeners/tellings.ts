import type { Answer, Forward, StoredMessage } from "../../model/answerer.ts";
import type { Incoming } from "../../model/messages.ts";
import { coversContact } from "../../model/address.ts";
import type { WebhookEventName } from "../../model/webhook-words.ts";
import type { Store } from "../../store/store.ts";
import type { EventFiles } from "../events/files.ts";
import { messageDelivery } from "../events/message-delivery.ts";
import { eventName, publicAddress } from "../events/payload.ts";
import type { Posting } from "../attempts/posting.ts";
import { isActive } from "../receiver.ts";
import { insertDelivery, type Delivery } from "../rows.ts";
import type { WebhookEvent } from "../webhook-event.ts";
import type { Listener } from "./settings.ts";

interface TellingsDeps {
  store: Pick<Store, "box">;
  files: EventFiles;
  /** Unix milliseconds. */
  now: () => number;
  /** Of the number. */
  listeners(): Listener[];
  /** What posts to a listener. */
  postingOf(listener: Listener): Pick<Posting, "order" | "wake">;
  observe?: ((event: WebhookEvent) => void) | undefined;
}

/** Tells a number's listeners of its messages: with the decision, and never in the chat's lane. */
export interface Tellings {
  /** Nobody has answered so far, or somebody is asked later. Never an answer. */
  answer(stored: StoredMessage): Extract<Answer, { kind: "pass" }>;
  /** @param handledBy `bot:<id>`, or another who has answered; null: nobody has */
  forward(stored: StoredMessage, handledBy: string | null): Forward | null;
}

const OF_BOT = "bot:";

/** Each listener gets a delivery of its own, whatever becomes of the others'. */
export function createTellings(deps: TellingsDeps): Tellings {
  const { store, files, now, postingOf } = deps;

  function forward(stored: StoredMessage, by: string | null): Forward | null {
    const handledBy = by?.startsWith(OF_BOT) ? by : null;
    const told = deps.listeners().filter((listener) => wants(listener, stored.message, handledBy));
    if (told.length === 0) return null;
    const rows = told.map((listener) => {
      const forWhom = { listener: listener.listener, handledBy, mayReply: false, privately: false };
      const delivery = messageDelivery({ store, files, now }, stored, forWhom);
      const posting = postingOf(listener);
      return { listener, delivery, posting };
    });
    return {
      statements: rows.map(({ listener: { url }, delivery, posting }) => {
        const progress = { state: "pending", nextAt: delivery.createdAt } as const;
        return insertDelivery(store.box, delivery, url, progress, posting.order());
      }),
      // Nobody waits for them: their queues begin.
      async afterCommit() {
        for (const { delivery, posting } of rows) {
          posting.wake();
          tell(delivery);
        }
      },
    };
  }

  function tell({ deviceId, id }: Delivery): void {
    deps.observe?.({ type: "delivery", deviceId, id });
  }

  return {
    forward,
    answer(stored) {
      const told = forward(stored, null);
      if (told === null) return { kind: "pass", trail: [] };
      const trail = [{ by: "listeners", outcome: "forwarded" }];
      return { kind: "pass", trail, statements: told.statements, afterCommit: told.afterCommit };
    },
  };
}

/** Whether a listener is to be told of an event of this name in this chat. */
export function hears(
  listener: Listener,
  name: WebhookEventName | null,
  chat: { destination: string; aliases: string[] } | null,
): boolean {
  if (!isActive(listener) || name === null || !listener.events.includes(name)) return false;
  return listener.chats === null || chat === null || coversContact(listener.chats, chat);
}

function wants(listener: Listener, message: Incoming, handledBy: string | null): boolean {
  const { bots } = listener;
  if (bots !== null && !(handledBy !== null && bots.includes(handledBy.slice(OF_BOT.length)))) return false;
  return hears(listener, eventName(message), chatOf(message));
}

/** The chat by all its names: a contact that is known by number and LID is judged by the number. */
function chatOf({ chatKey, chatKind, fromMe, number, lid }: Incoming) {
  const destination = publicAddress(chatKey);
  const isContact = chatKind === "dm" && !fromMe;
  const aliases = isContact ? [number, lid].filter((name) => name !== null && name !== destination) : [];
  return { destination, aliases: aliases as string[] };
}
