import type { GroupAction, PresenceState } from "../../whatsapp/port/happenings.ts";
import { publicAddress, type WebhookEvent } from "./payload.ts";
import { nothingSaid } from "./state-events.ts";

export { GROUP_ACTIONS, PRESENCE_STATES } from "../../whatsapp/port/happenings.ts";

/** What can be another thing of a person. */
export const CONTACT_PARTS = ["name", "lid", "number"] as const;
export type ContactPart = (typeof CONTACT_PARTS)[number];

/** What it was before; null: it was not known. */
export type FormerContact = Partial<Record<ContactPart, string | null>>;

/** What happens in chats and is no message. Times are Unix milliseconds. */
export type Happening = {
  /** What makes it this one and no other of its chat and type. */
  key: string;
  /** Canonical key of the chat. */
  chat: string;
  at: number;
} & (
  | { type: "group"; action: GroupAction; by: string | null; participants: string[]; text: string }
  /** `person`: canonical. */
  | { type: "presence"; person: string; state: PresenceState; lastSeen: number | null }
  | { type: "contact"; changed: ContactPart[]; old: FormerContact }
);

/** What such an event says beside the fields of every event. */
export interface Happened {
  group?: { action: GroupAction; by: string | null; participants: string[] };
  presence?: { state: PresenceState; last_seen: string | null };
  contact?: { changed: ContactPart[]; old: FormerContact };
}

/** The event of something that is no message: every field of one, and what only this says. */
export type HappeningEvent = Omit<WebhookEvent, "type"> & { type: Happening["type"] } & Happened;

/** In the words of the webhook and of `/events`. */
export function happenedView(happening: Happening): Happened {
  switch (happening.type) {
    case "group": {
      const { action, by, participants } = happening;
      return { group: { action, by, participants } };
    }
    case "presence": {
      const { state, lastSeen } = happening;
      return { presence: { state, last_seen: lastSeen === null ? null : new Date(lastSeen).toISOString() } };
    }
    case "contact": {
      const { changed, old } = happening;
      return { contact: { changed, old } };
    }
  }
}

/** @param id no message stands behind it: the delivery's */
export function happeningEvent(id: string, device: string, happening: Happening): HappeningEvent {
  const { type, chat, at } = happening;
  const text = type === "group" ? happening.text : "";
  return {
    ...nothingSaid(id, device, at),
    from: writerOf(happening) ?? device,
    message: text,
    text,
    chat: publicAddress(chat),
    is_group: chat.endsWith("@g.us"),
    type,
    ...happenedView(happening),
  };
}

/** Who has done it, or is it about; null: nobody is named. */
export function writerOf(happening: Happening): string | null {
  if (happening.type === "group") return happening.by;
  return publicAddress(happening.type === "presence" ? happening.person : happening.chat);
}
