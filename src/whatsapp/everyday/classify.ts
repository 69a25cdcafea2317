import type { BinaryNode, proto } from "@whiskeysockets/baileys";
import { withoutDevice, isLid, isPn } from "../jids.ts";
import type { OwnIds, StanzaAttributes } from "../addresses.ts";
import { RATCHET_REFUSALS } from "./ratchet.ts";

/** Why something goes Baileys' way. Words of a metric (`docs/operations/monitoring.md`): few, and none of them names anybody. */
export const OTHER_WAYS = [
  "waited",
  "own",
  "not_a_person",
  "peer",
  "kind",
  "retry",
  "ciphertext",
  "pair_unknown",
  "no_session",
  "identity",
  "unreadable",
  "content",
  "offline",
  "devices_unknown",
  "devices_changed",
  "timer_unknown",
  "locked",
  ...RATCHET_REFUSALS,
] as const;

/** One of {@link OTHER_WAYS}. */
export type OtherWay = (typeof OTHER_WAYS)[number];

/**
 * What is counted: messages that come in; receipts that come in; replies that are encrypted by the commit that stores
 * them, as they leave; messages that are encrypted when they are sent.
 */
export const DIRECTIONS = ["in", "receipt", "ahead", "out"] as const;

/** One of {@link DIRECTIONS}. */
export type Direction = (typeof DIRECTIONS)[number];

/** Told of each message and receipt once for each of its directions: null went the everyday way. */
export type OnWay = (direction: Direction, reason: OtherWay | null) => void;

/** A stanza that may go the everyday way. */
export interface EverydayStanza {
  attributes: StanzaAttributes;
  ciphertext: Uint8Array;
}

/** What a stanza calls texts, places, contacts, and reactions. */
const KINDS = new Set(["text", "reaction"]);
const VERSION = "2";

/**
 * Whether a stanza is an everyday message: one ciphertext of an open session, live, from one device of one person.
 *
 * @param attributes as they came
 */
export function readStanza(
  { content }: BinaryNode,
  attributes: StanzaAttributes,
  own: OwnIds,
): EverydayStanza | OtherWay {
  if (attributes.category !== undefined) return "peer";
  if (attributes.offline !== undefined) return "waited";
  const { from = "" } = attributes;
  const writer = withoutDevice(from);
  if (attributes.recipient !== undefined || writer === own.pn || writer === own.lid) return "own";
  // Hosted devices and everything but persons.
  if (!(isPn(from) || isLid(from)) || attributes.participant !== undefined) return "not_a_person";
  if (!attributes.id || attributes.edit !== undefined || !KINDS.has(attributes.type ?? "")) return "kind";
  const ciphertexts = Array.isArray(content) ? content.filter(isCiphertext) : [];
  const [enc] = ciphertexts;
  if (enc === undefined || ciphertexts.length > 1) return "ciphertext";
  if (enc.attrs.count !== undefined) return "retry";
  if (enc.attrs.type !== "msg" || enc.attrs.v !== VERSION) return "ciphertext";
  return enc.content instanceof Uint8Array ? { attributes, ciphertext: enc.content } : "ciphertext";
}

const CIPHERTEXTS = new Set(["enc", "plaintext", "unavailable"]);
const isCiphertext = ({ tag }: BinaryNode): boolean => CIPHERTEXTS.has(tag);

/** What concerns nobody but its reader. Everything else means something to Baileys as well. */
const CONTENTS = new Set([
  "conversation",
  "extendedTextMessage",
  "locationMessage",
  "contactMessage",
  "contactsArrayMessage",
  "reactionMessage",
  "messageContextInfo",
]);

/** Whether a decrypted message is one that Baileys has nothing to do with. */
export function isEverydayContent(message: proto.IMessage): boolean {
  const fields = Object.keys(message);
  return fields.length > 0 && fields.every((field) => CONTENTS.has(field));
}

/** The number and the LID that a stanza names for its writer; null when it names them in a way of its own. */
export function namedPair(attributes: StanzaAttributes): { pn: string | null; lid: string | null } | null {
  const { from = "", addressing_mode: mode } = attributes;
  const byLid = isLid(from);
  if (mode !== undefined && (mode === "lid") !== byLid) return null;
  const other = byLid
    ? (attributes.participant_pn ?? attributes.sender_pn ?? attributes.peer_recipient_pn)
    : (attributes.participant_lid ?? attributes.sender_lid ?? attributes.peer_recipient_lid);
  if (other === undefined) return byLid ? { pn: null, lid: from } : { pn: from, lid: null };
  if (byLid ? !isPn(other) : !isLid(other)) return null;
  return byLid ? { pn: other, lid: from } : { pn: from, lid: other };
}
