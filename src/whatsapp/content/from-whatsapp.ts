import type { proto } from "@whiskeysockets/baileys";
import type { Incoming, Quoted } from "../../model/messages.ts";
import {
  personOf,
  readEnvelope,
  VERIFIED_NAME,
  type NumberOfLid,
  type OwnIds,
  type StanzaAttributes,
} from "../addresses.ts";
import { readContent, type Content } from "./content.ts";
import { isLid, userOf, withoutDevice } from "../jids.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** One decrypted message as it came off the wire. */
export interface Received {
  attributes: StanzaAttributes;
  content: Content;
  /** The encoded protobuf, a copy for the own devices (`deviceSentMessage`) already unwrapped. */
  raw: Uint8Array;
}

/**
 * Turns a decrypted message into what the rest of Parley knows.
 *
 * @param numberOfLid what is stored of LIDs; asked for those that `lidUsersOf` names
 */
export function toIncoming(
  { attributes, content, raw }: Received,
  own: OwnIds,
  numberOfLid: NumberOfLid,
): Incoming {
  const { sender, ...envelope } = readEnvelope(attributes, own, numberOfLid);
  const { context, poll, ...said } = content;
  return {
    ...envelope,
    sender: sender.canonical,
    number: sender.number,
    lid: sender.lid,
    pushName: attributes.notify ?? "",
    ...(attributes[VERIFIED_NAME] !== undefined && { verifiedName: attributes[VERIFIED_NAME] }),
    timestamp: secondsIn(attributes.t),
    ...(attributes.offline !== undefined && { waited: true as const }),
    ...expiry(attributes, content),
    ...said,
    poll: poll && { id: envelope.id, ...poll },
    // The kind of a channel's post is told by its content; that it is a channel's is what counts for who gets it.
    type: envelope.chatKind === "channel" ? "channel" : said.type,
    quoted: readQuoted(context, own, numberOfLid),
    mentions: (context?.mentionedJid ?? []).map((jid) => mentioned(jid, own, numberOfLid)),
    raw: Buffer.from(raw).toString("base64"),
  };
}

/** WhatsApp counts from when it was written. An edit changes nothing of when its message disappears. */
function expiry({ t }: StanzaAttributes, { context, type }: Content): Pick<Incoming, "expiresAt"> {
  const seconds = context?.expiration ?? 0;
  return seconds > 0 && type !== "edit" ? { expiresAt: secondsIn(t) + seconds } : {};
}

/** LID users that a message names: chat, writer, quoted writer, mentioned. */
export function lidUsersOf(attributes: StanzaAttributes, { context }: Content): string[] {
  const { from, participant, recipient } = attributes;
  const named = context ? [context.participant, ...(context.mentionedJid ?? [])] : [];
  return [from, participant, recipient, ...named].map(withoutDevice).filter(isLid).map(userOf);
}

function readQuoted(
  context: proto.IContextInfo | null,
  own: OwnIds,
  numberOfLid: NumberOfLid,
): Quoted | null {
  if (!context?.stanzaId) return null;
  const quoted = context.quotedMessage ? readContent(context.quotedMessage) : null;
  return {
    id: context.stanzaId,
    from: canonical(context.participant ?? "", own, numberOfLid),
    text: quoted?.text ?? "",
  };
}

function mentioned(jid: string, own: OwnIds, numberOfLid: NumberOfLid): string {
  const known = canonical(jid, own, numberOfLid);
  return isLid(known) ? known : userOf(known);
}

function canonical(jid: string, own: OwnIds, numberOfLid: NumberOfLid): string {
  const bare = withoutDevice(jid);
  return bare === own.lid ? own.pn : personOf(bare, {}, numberOfLid).canonical;
}
