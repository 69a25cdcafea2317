import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Content, MessageBody } from "../surface/content.ts";
import { album, composeAlbum } from "./content/album.ts";
import { contacts, composeContacts } from "./content/contacts.ts";
import type { Desk, Extras } from "./content/context.ts";
import { edit, revoke } from "./content/edit.ts";
import type { ContentKind, Envelope, StanzaType } from "./content/kind.ts";
import { composeLocation, location } from "./content/location.ts";
import { composeFile, media } from "./content/media.ts";
import { composePoll, poll } from "./content/poll.ts";
import { pollOption } from "./content/poll-option.ts";
import { protocol } from "./content/protocol.ts";
import { reaction } from "./content/reaction.ts";
import { sealedEdit } from "./content/sealed-edit.ts";
import { senderKey } from "./content/sender-key.ts";
import { composeText, text } from "./content/text.ts";
import { timer } from "./content/timer.ts";
import { vote } from "./content/vote.ts";

/** The kinds that simulated people know; the first that reads a message names it. */
const kinds: readonly ContentKind[] = [
  text,
  media,
  location,
  contacts,
  poll,
  vote,
  reaction,
  edit,
  sealedEdit,
  pollOption,
  revoke,
  timer,
  album,
  protocol,
  senderKey,
];

/** Fields that accompany a body and are none. */
const ACCOMPANYING = new Set(["messageContextInfo", "senderKeyDistributionMessage", "deviceSentMessage"]);

/** Fields that hold a whole message and say only how it is to be shown. */
const WRAPPERS = [
  "ephemeralMessage",
  "viewOnceMessage",
  "viewOnceMessageV2",
  "viewOnceMessageV2Extension",
  "documentWithCaptionMessage",
  "editedMessage",
  "groupStatusMessageV2",
] as const;

/** A message without the wrappers around it; what accompanies it stays. */
export function unwrap(message: proto.IMessage): proto.IMessage {
  for (const field of WRAPPERS) {
    const inner = message[field]?.message;
    if (inner) {
      const { messageContextInfo } = message;
      return unwrap(messageContextInfo ? { messageContextInfo, ...inner } : inner);
    }
  }
  return message;
}

/** Phones open a file once when it says so, and stands in a wrapper that says so. */
function isViewedOnce(message: proto.IMessage, plain: proto.IMessage): boolean {
  const { viewOnceMessage, viewOnceMessageV2, viewOnceMessageV2Extension } = message;
  const isWrapped = Boolean(viewOnceMessage ?? viewOnceMessageV2 ?? viewOnceMessageV2Extension);
  const file = plain.imageMessage ?? plain.videoMessage ?? plain.audioMessage;
  return isWrapped && file?.viewOnce === true;
}

/** What a message is, for the transcript. A body of an unknown kind is named by its protobuf field. */
export function summarize(message: proto.IMessage): MessageBody {
  const plain = unwrap(message);
  for (const { read } of kinds) {
    const body = read(plain);
    if (body) return isViewedOnce(message, plain) ? { ...body, viewOnce: true } : body;
  }
  const field = Object.entries(plain).find(([name, value]) => value != null && !ACCOMPANYING.has(name));
  return { kind: field?.[0] ?? "empty" };
}

/** How a message's stanza is to look, besides its ciphertexts. */
export function envelopeOf(message: proto.IMessage): Envelope & { type: StanzaType } {
  const plain = unwrap(message);
  const kind = kinds.find(({ read }) => read(plain) !== undefined);
  return { type: kind?.stanzaType ?? "text", ...kind?.envelope?.(plain) };
}

type Composer<C> = (content: C, desk: Desk, extras: Extras, where: { inChannel: boolean }) => proto.IMessage;

/** How each kind of content is written. */
const composers: { [K in Content["kind"]]: Composer<Extract<Content, { kind: K }>> } = {
  text: (content, _, extras) => composeText(content.text, extras),
  image: composeFile,
  video: composeFile,
  audio: composeFile,
  voice: composeFile,
  document: composeFile,
  sticker: composeFile,
  location: composeLocation,
  contacts: composeContacts,
  poll: composePoll,
  album: composeAlbum,
  raw: ({ bytes }) => proto.Message.decode(bytes),
};

/**
 * Writes a message of any kind.
 *
 * @param inChannel  the message is a post: its file is stored as it is
 * @throws when a file comes without its bytes
 */
export function compose(
  content: Content,
  desk: Desk,
  extras: Extras = {},
  { inChannel = false } = {},
): proto.IMessage {
  const composer = composers[content.kind] as Composer<Content> | undefined;
  if (!composer) throw new Error(`nobody writes messages of kind "${content.kind}"`);
  return composer(content, desk, extras, { inChannel });
}
