import type { ChatKind } from "../model/messages.ts";
import { isChannel, isGroup, isLid, isPn, toPn, userOf, withoutDevice } from "./jids.ts";

/** The attributes of a message stanza: who wrote where, when, under which name. */
export type StanzaAttributes = Record<string, string>;

/** Put among them here: the name of a business, which comes as a certificate beside the ciphertext. */
export const VERIFIED_NAME = "parley-verified-name";

/** Who the linked number itself is. */
export interface OwnIds {
  /** `<digits>@s.whatsapp.net` */
  pn: string;
  /** `<digits>@lid`, or null. */
  lid: string | null;
}

/** The number behind a LID user, as far as it is stored; null when it is not. */
export type NumberOfLid = (lidUser: string) => string | null;

/** One person, as well as they are known. */
export interface Person {
  /** The canonical id: the number's form when it is known, else the LID's. */
  canonical: string;
  number: string | null;
  lid: string | null;
}

/** Where a stanza belongs. */
export interface Envelope {
  id: string;
  /** Chat id as it arrived, without device. */
  chat: string;
  chatKey: string;
  chatKind: ChatKind;
  sender: Person;
  /** Writer's id in a group as it arrived, else null. */
  participant: string | null;
  fromMe: boolean;
}

/** Reads who wrote where from a message stanza's attributes. */
export function readEnvelope(attributes: StanzaAttributes, own: OwnIds, numberOfLid: NumberOfLid): Envelope {
  const from = withoutDevice(attributes.from);
  const chat = withoutDevice(attributes.recipient) || from;
  const inRoom = isGroup(from) || from.endsWith("@broadcast");
  const participant = inRoom ? withoutDevice(attributes.participant) : null;
  const writer = participant ?? from;
  const fromMe = writer === own.pn || writer === own.lid;
  const sender = fromMe
    ? { canonical: own.pn, number: userOf(own.pn), lid: own.lid }
    : personOf(writer, alternative(attributes, ["participant", "sender"]), numberOfLid);
  return {
    id: attributes.id ?? "",
    chat,
    chatKey: isPn(chat) || isLid(chat) ? chatKeyOf(chat, attributes, own, sender, numberOfLid) : chat,
    chatKind: chatKindOf(chat),
    sender,
    participant,
    fromMe,
  };
}

function chatKeyOf(
  chat: string,
  attributes: StanzaAttributes,
  own: OwnIds,
  sender: Person,
  numberOfLid: NumberOfLid,
): string {
  if (sender.canonical !== own.pn) return sender.canonical;
  if (chat === own.lid) return own.pn;
  return personOf(chat, alternative(attributes, ["peer_recipient", "recipient"]), numberOfLid).canonical;
}

/** Everything that is known of a person who is named by one id, and perhaps by another beside it. */
export function personOf(
  jid: string,
  alternatives: { pn?: string; lid?: string },
  numberOfLid: NumberOfLid,
): Person {
  if (isPn(jid)) return { canonical: jid, number: userOf(jid), lid: alternatives.lid ?? null };
  if (!isLid(jid)) return { canonical: jid, number: null, lid: null };
  const number = alternatives.pn ? userOf(alternatives.pn) : numberOfLid(userOf(jid));
  return { canonical: number === null ? jid : toPn(number), number, lid: jid };
}

function alternative(attributes: StanzaAttributes, names: string[]): { pn?: string; lid?: string } {
  const found: { pn?: string; lid?: string } = {};
  for (const name of names) {
    const pn = withoutDevice(attributes[`${name}_pn`]);
    const lid = withoutDevice(attributes[`${name}_lid`]);
    if (isPn(pn)) found.pn ??= pn;
    if (isLid(lid)) found.lid ??= lid;
  }
  return found;
}

function chatKindOf(chat: string): ChatKind {
  if (isGroup(chat)) return "group";
  if (isChannel(chat)) return "channel";
  return chat.endsWith("@broadcast") ? "status" : "dm";
}
