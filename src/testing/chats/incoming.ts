import { nothingSaid, type Incoming, type MediaKind } from "../../model/messages.ts";

/** Somebody who writes to the bot. */
export interface Contact {
  /** Digits. */
  number: string;
  name: string;
  /** `…@lid`; the contact is then known by it in addition. */
  lid: string | null;
}

/** Where a message is written: the contact's own chat, or a group. */
export interface Place {
  chat: string;
  kind: "dm" | "group";
  contact: Contact;
  /** Of a group. */
  group?: { name: string; members: readonly string[] };
}

/** WhatsApp's address of a phone number, given in digits. */
export const jidOf = (number: string): string => `${number}@s.whatsapp.net`;

/** A message of a contact. @param now Unix milliseconds */
export function messageFrom(
  { chat, kind, contact }: Place,
  id: string,
  now: number,
  change: Partial<Incoming>,
): Incoming {
  const sender = jidOf(contact.number);
  return {
    ...nothingSaid(),
    id,
    chat,
    chatKey: chat,
    chatKind: kind,
    sender,
    number: contact.number,
    lid: contact.lid,
    participant: kind === "group" ? sender : null,
    fromMe: false,
    pushName: contact.name,
    timestamp: Math.floor(now / 1000),
    type: "text",
    media: null,
    ...change,
  };
}

/** Type of a file that a test sends without naming one. */
export const MIMETYPES: Record<MediaKind, string> = {
  image: "image/jpeg",
  video: "video/mp4",
  audio: "audio/mpeg",
  voice: "audio/ogg; codecs=opus",
  document: "application/pdf",
  sticker: "image/webp",
};

/** As a transcript shows what somebody sent. */
export function describeIncoming({ type, text, media, poll, location }: Incoming): string {
  if (media) return `[${media.kind}] ${text}`.trim();
  if (type === "poll_vote") return `[vote] ${poll?.vote?.selected.join(" / ") || "withdrawn"}`;
  if (type === "reaction") return `[reaction] ${text}`;
  if (location) return `[location] ${location.latitude}, ${location.longitude}`;
  if (type === "edit") return `[edit] ${text}`;
  return text;
}
