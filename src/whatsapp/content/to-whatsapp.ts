import type { proto } from "@whiskeysockets/baileys";
import {
  isAction,
  type ContactDraft,
  type ContentDraft,
  type Draft,
  type DraftQuote,
  type LocationDraft,
  type Manner,
  type QuotedDraft,
} from "../../model/content/drafts.ts";
import type { SecretBox } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import { timerContext, type ChatTimer } from "./chat-timer.ts";
import { messageSecret } from "./message-secret.ts";
import { actionToWhatsApp } from "./to-whatsapp-action.ts";
import { forwardToWhatsApp } from "./to-whatsapp-forward.ts";
import { mediaToWhatsApp, type StoredFile } from "./to-whatsapp-media.ts";
import { pollToWhatsApp } from "./to-whatsapp-poll.ts";
import { vcardOf } from "./vcard.ts";

/** What a message needs beside its draft. */
export interface Supplement {
  /** It goes to the announcement group of a community; counts for polls only. */
  inAnnouncements?: boolean;
  /** The file that the draft names; drafts with a file need it. Of what is handed on: its file, when it was stored again. */
  stored?: StoredFile;
  /** After how long messages of the chat disappear. Default: they stay. */
  timer?: ChatTimer;
  /** Addresses of all members of its group; counts for what mentions them all. */
  members?: string[];
}

/**
 * Makes the protobuf of a draft. The same draft with the same id gives the same bytes, so that whoever asks for a message
 * again gets the message that was sent: nothing in it is random or depends on the time. What its chat's timer is now is what
 * whoever gets it late has to go by.
 *
 * @param waId the message's id; its secret (`messageSecret`, which WhatsApp wants in every message) is derived from it
 */
export function toWhatsApp(
  draft: Draft,
  waId: string,
  box: Pick<SecretBox, "hmac">,
  beside: Supplement = {},
): proto.IMessage {
  if (isAction(draft)) return actionToWhatsApp(draft);
  const messageContextInfo = { messageSecret: messageSecret(box, waId) };
  const content = contentOf(draft, beside);
  // Added and not spread: to encode an object that was spread costs ten times as much, 120 fields long.
  return Object.assign(draft.viewOnce || saysOnce(content) ? onceOnly(content) : content, {
    messageContextInfo,
  });
}

function contentOf(draft: ContentDraft & Manner, beside: Supplement): proto.IMessage {
  const { inAnnouncements = false, stored } = beside;
  const contextInfo = contextOf(draft, beside);
  if (draft.kind === "poll") return pollToWhatsApp(draft, inAnnouncements, contextInfo);
  if (draft.kind === "text")
    return { extendedTextMessage: { text: draft.text, ...(contextInfo ? { contextInfo } : {}) } };
  if (draft.kind === "location") return locationToWhatsApp(draft, contextInfo);
  if (draft.kind === "contact") return contactsToWhatsApp(draft, contextInfo);
  if (draft.kind === "forward") return forwardToWhatsApp(draft, contextInfo, stored);
  if (stored === undefined) throw new TypeError(`The ${draft.kind} was not uploaded to WhatsApp.`);
  return mediaToWhatsApp(draft, stored, contextInfo);
}

/** What it quotes, whom it mentions, and when it disappears; null when there is nothing of it. */
function contextOf(
  { quote: quoted, mentions, mentionsAll, forwarded }: ContentDraft & Manner,
  { timer, members = [] }: Supplement,
): proto.IContextInfo | null {
  const mentioned = [...new Set([...(mentions ?? []), ...(mentionsAll ? members : [])])];
  const context = {
    ...(quoted && quote(quoted)),
    ...(timer && timerContext(timer)),
    ...(mentioned.length > 0 && { mentionedJid: mentioned }),
    ...(forwarded && { isForwarded: true, forwardingScore: forwarded }),
  };
  return Object.keys(context).length === 0 ? null : context;
}

/** What came for one look is handed on by nobody; should a draft of an earlier version do so, it stays for one look. */
const saysOnce = ({ imageMessage, videoMessage, audioMessage }: proto.IMessage): boolean =>
  (imageMessage ?? videoMessage ?? audioMessage)?.viewOnce === true;

/** As phones send what can be opened once: marked, and in a wrapper that clients without it do not open. */
function onceOnly({ imageMessage, videoMessage, audioMessage }: proto.IMessage): proto.IMessage {
  if (audioMessage)
    return { viewOnceMessageV2Extension: { message: { audioMessage: { ...audioMessage, viewOnce: true } } } };
  const message = imageMessage
    ? { imageMessage: { ...imageMessage, viewOnce: true } }
    : { videoMessage: { ...videoMessage, viewOnce: true } };
  return { viewOnceMessageV2: { message } };
}

function quote(quoted: DraftQuote): proto.IContextInfo {
  const { id, sender } = quoted;
  const quotedMessage = "sent" in quoted ? quotedSent(quoted.sent) : quotedContent(quoted.raw);
  return { stanzaId: id, participant: sender, quotedMessage };
}

function locationToWhatsApp(
  { latitude, longitude, name, address }: LocationDraft,
  contextInfo: proto.IContextInfo | null,
): proto.IMessage {
  return {
    locationMessage: {
      degreesLatitude: latitude,
      degreesLongitude: longitude,
      ...(name !== undefined && { name }),
      ...(address !== undefined && { address }),
      ...(contextInfo !== null && { contextInfo }),
    },
  };
}

/** One person is a message of its own kind; several are a list, which phones show by its name. */
function contactsToWhatsApp(
  { contacts }: ContactDraft,
  contextInfo: proto.IContextInfo | null,
): proto.IMessage {
  const cards = contacts.map((card) => ({ displayName: card.name, vcard: vcardOf(card) }));
  const context = contextInfo !== null && { contextInfo };
  if (cards.length === 1) return { contactMessage: { ...cards[0], ...context } };
  const displayName = `${contacts[0]!.name} and ${cards.length - 1} more`;
  return { contactsArrayMessage: { displayName, contacts: cards, ...context } };
}

/** A phone shows its own copy of what was sent to it; this is what it shows when it has none any more. */
function quotedSent({ kind, text, options, fileName }: QuotedDraft): proto.IMessage {
  const caption = text === "" ? {} : { caption: text };
  switch (kind) {
    case "text":
      return { conversation: text };
    case "poll":
      return { pollCreationMessage: { name: text, options: options!.map((optionName) => ({ optionName })) } };
    case "image":
      return { imageMessage: caption };
    case "video":
      return { videoMessage: caption };
    case "audio":
    case "voice":
      return { audioMessage: { ptt: kind === "voice" } };
    case "sticker":
      return { stickerMessage: {} };
    case "location":
      return { locationMessage: { name: text } };
    case "contact":
      return { contactMessage: { displayName: text } };
    case "document":
      return { documentMessage: { ...caption, ...(fileName !== undefined && { fileName }) } };
  }
}

/** The quoted message's own content, without what it quoted itself and without its secret. */
function quotedContent(raw: string): proto.IMessage {
  const message = baileys.normalizeMessageContent(baileys.proto.Message.decode(Buffer.from(raw, "base64")));
  const field = baileys.getContentType(message ?? undefined);
  if (!message || field === undefined) return { conversation: "" };
  const value = (message as Record<string, unknown>)[field];
  if (typeof value !== "object" || value === null) return { [field]: value };
  const { contextInfo: _, ...content } = value as Record<string, unknown>;
  return { [field]: content };
}
