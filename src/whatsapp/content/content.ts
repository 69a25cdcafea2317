import type { proto } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { READERS, SILENT, type Content } from "./content-kinds.ts";
import { findFile, type FoundFile } from "./content-media.ts";
import { sealedKind } from "./sealed-kinds.ts";

export type { Content } from "./content-kinds.ts";

/** Reads a decoded protobuf; null when nobody is meant to read it. */
export function readContent(message: proto.IMessage): Content | null {
  const content = unwrap(message);
  if (!content) return null;
  if (content.protocolMessage) return readProtocol(content.protocolMessage);
  if (content.secretEncryptedMessage) return readSealed(content.secretEncryptedMessage);
  const inner = baileys.extractMessageContent(content) ?? content;
  const field = baileys.getContentType(inner);
  if (field === undefined || SILENT.has(field)) return null;
  const said = READERS[field]?.(inner) ?? { type: "unknown" as const };
  const once = isForOneLook(message, inner) && { viewOnce: true as const };
  return { ...EMPTY, context: contextOf(inner, field), ...said, ...once };
}

/** The file of a message as its encoded protobuf (`Incoming.raw`) tells; null when it has none. */
export function fileIn(raw: string): FoundFile | null {
  const content = unwrap(baileys.proto.Message.decode(Buffer.from(raw, "base64")));
  return content ? findFile(baileys.extractMessageContent(content) ?? content) : null;
}

/** Wrappers that Baileys leaves on. */
const WRAPPERS = [
  "groupMentionedMessage",
  "botInvokeMessage",
  "botForwardedMessage",
  "lottieStickerMessage",
  "pollCreationMessageV4",
  "questionMessage",
  "questionReplyMessage",
  "limitSharingMessage",
  "statusMentionMessage",
  "groupStatusMentionMessage",
  "statusAddYours",
] as const;
const MOST_WRAPPERS = 5;

function unwrap(message: proto.IMessage): proto.IMessage | null {
  let content = baileys.normalizeMessageContent(message);
  for (let depth = 0; content && depth < MOST_WRAPPERS; depth++) {
    const around = WRAPPERS.find((name) => content?.[name]);
    if (around === undefined) break;
    content = baileys.normalizeMessageContent(content[around]?.message ?? undefined);
  }
  return content ?? null;
}

const ONCE = ["viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension"] as const;

/** A file says so itself, or stands in a wrapper that says so; what businesses send in such a wrapper is no file. */
function isForOneLook(
  message: proto.IMessage,
  { imageMessage, videoMessage, ptvMessage, audioMessage }: proto.IMessage,
): boolean {
  const file = imageMessage ?? videoMessage ?? ptvMessage ?? audioMessage;
  if (!file) return false;
  const outer = message.ephemeralMessage?.message ?? message;
  return file.viewOnce === true || ONCE.some((name) => outer[name]);
}

const EMPTY: Content = {
  type: "unknown",
  text: "",
  location: null,
  contacts: null,
  reaction: null,
  targetId: null,
  media: null,
  poll: null,
  context: null,
};

function readProtocol(protocol: proto.Message.IProtocolMessage): Content | null {
  const { REVOKE, MESSAGE_EDIT } = baileys.proto.Message.ProtocolMessage.Type;
  const targetId = protocol.key?.id ?? null;
  if (protocol.type === REVOKE) return { ...EMPTY, type: "revoke", targetId };
  if (protocol.type !== MESSAGE_EDIT || !protocol.editedMessage) return null;
  const edited = readContent(protocol.editedMessage);
  // An edit changes the text; the file is the one of the message that it is about, and often not named again.
  return { ...(edited ?? EMPTY), type: "edit", targetId, media: null };
}

/** An edit, or an option for a poll, that is sealed says what it is about; `sealed-edits.ts` opens it. */
function readSealed({
  secretEncType,
  targetMessageKey,
}: proto.Message.ISecretEncryptedMessage): Content | null {
  if (sealedKind(secretEncType) === undefined) return null;
  return { ...EMPTY, type: "edit", targetId: targetMessageKey?.id ?? null };
}

function contextOf(content: proto.IMessage, field: string): proto.IContextInfo | null {
  const value = (content as Record<string, unknown>)[field];
  if (typeof value !== "object" || value === null) return null;
  return (value as { contextInfo?: proto.IContextInfo | null }).contextInfo ?? null;
}
