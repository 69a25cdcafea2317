import type { WebhookEventName } from "../../model/webhook-words.ts";
import type { Incoming, MessageType } from "../../model/messages.ts";
import { viewPoll, type PollView } from "../../model/polls.ts";

/** The event of a message. The first six fields are the specified ones and stand in every event; what is absent is null. */
export interface WebhookEvent {
  /** What a person would read, "" when there is nothing; never null. */
  message: string;
  /** The same text. */
  text: string;
  /** Images only: bare base64, up to 5 MiB; put in when the event is posted. */
  bufferImage: string | null;
  /** The writer: digits, or `…@lid` while the number is unknown. */
  from: string;
  id: string;
  /** "" when unknown. */
  pushName: string;
  /** The linked number, digits. */
  device: string;
  /** What `number` of a send accepts to answer there. */
  chat: string;
  is_group: boolean;
  /** The writer's full id in a group. */
  participant: string | null;
  from_lid: string | null;
  /** Unix seconds. */
  timestamp: number;
  type: MessageType;
  /** When it disappears from phones, ISO 8601. */
  expires_at: string | null;
  quoted: { id: string; from: string; text: string } | null;
  mentions: string[];
  media: WebhookMedia | null;
  location: Incoming["location"];
  contacts: Incoming["contacts"];
  reaction: Incoming["reaction"];
  target_id: string | null;
  /** The poll that arrived, or that a vote is about, with every vote that is known. */
  poll: PollView | null;
  /** `bot:<id>` that answered, or null. */
  handled_by: string | null;
}

/** The file of a message, as an event describes it. */
export interface WebhookMedia {
  /** As the event's; of a channel's post, what the file is. */
  type: MessageType;
  mimetype: string;
  fileName: string | null;
  /** Bytes, as the sender's phone says. */
  size: number;
  /** Signed, expiring, needs no key. */
  url: string | null;
  /** Why there is no address, or no `bufferImage` of an image. */
  error?: string;
}

/** Which name in `events` a message goes by; null for status broadcasts, which no webhook is told of. */
export function eventName(message: Incoming): WebhookEventName | null {
  if (message.chatKind === "status") return null;
  if (message.fromMe) return "own";
  if (message.chatKind === "channel" || message.type === "channel") return "channel";
  const { type } = message;
  return type === "poll_vote" ||
    type === "reaction" ||
    type === "edit" ||
    type === "revoke" ||
    type === "call"
    ? type
    : "message";
}

/**
 * @param device    the linked number, digits
 * @param handledBy `bot:<id>` of the bot that has answered, or null
 * @param media     of its file, when it has one
 */
export function toEvent(
  message: Incoming,
  device: string,
  handledBy: string | null,
  media: WebhookMedia | null = null,
): WebhookEvent {
  const { text, quoted } = message;
  return {
    message: text,
    text,
    bufferImage: null,
    from: message.fromMe ? device : writerOf(message),
    id: message.id,
    pushName: message.pushName,
    device,
    chat: publicAddress(message.chatKey),
    is_group: message.chatKind === "group",
    participant: message.participant,
    from_lid: message.fromMe ? null : message.lid,
    timestamp: message.timestamp,
    type: message.type,
    expires_at: message.expiresAt === undefined ? null : new Date(message.expiresAt * 1000).toISOString(),
    quoted: quoted && { id: quoted.id, from: publicAddress(quoted.from), text: quoted.text },
    mentions: message.mentions,
    media,
    location: message.location,
    contacts: message.contacts,
    reaction: message.reaction,
    target_id: message.targetId,
    poll: viewPoll(message.poll),
    handled_by: handledBy,
  };
}

function writerOf(message: Incoming): string {
  return message.number ?? message.lid ?? publicAddress(message.sender);
}

/** A WhatsApp id as the REST surface writes it: digits for a phone number, everything else as it is. */
export function publicAddress(id: string): string {
  return id.endsWith("@s.whatsapp.net") ? id.slice(0, id.indexOf("@")) : id;
}
