/** Opening the ciphertexts of a message that has arrived. */
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { SignalError } from "../../signal/error.ts";
import { type BinaryNode, bytes } from "../../wire/nodes.ts";
import type { DecryptedEvent } from "../events.ts";
import { isGroup, isShared, userJid } from "../jids.ts";
import { unpad } from "./padding.ts";
import { type PhoneState, reportViolation } from "../phone-state.ts";
import { decodeMessage } from "./wire-message.ts";

type EncType = DecryptedEvent["encType"];

/** A message stanza, taken apart. */
export interface Arrival {
  attrs: Record<string, string>;
  id: string;
  /** Device address of the author. */
  author: string;
  chat: string;
  ownCopy: boolean;
  isPeer: boolean;
  encs: BinaryNode[];
}

/** A message that this device cannot read now; `reason` is told to the recorder. */
export class Unreadable extends Error {
  readonly reason: string;
  readonly encType: string;

  constructor(reason: string, encType: string) {
    super(reason);
    this.reason = reason;
    this.encType = encType;
  }
}

/**
 * Opens every ciphertext of a message, takes the sender's key out, and puts the rest together without the wrapper of
 * own copies.
 *
 * @param peer  name under which the author's Signal state is filed
 * @throws {Unreadable}
 */
export function openMessage(
  state: PhoneState,
  arrival: Arrival,
  peer: string,
): { message: proto.IMessage; encType: EncType } {
  const whole: proto.IMessage = {};
  let encType: EncType | undefined;
  for (const enc of arrival.encs) {
    encType = enc.attrs.type as EncType;
    const message = openOne(state, arrival, peer, encType, bytes(enc) ?? new Uint8Array());
    checkWrapping(state, arrival, message);
    Object.assign(whole, unwrapOwnCopy(message));
    takeSenderKey(state, arrival, peer, message);
  }
  if (!encType) throw new Unreadable("no_enc", "");
  return { message: whole, encType };
}

/** What another own device wrote; its secret may stand inside, outside, or both. */
function unwrapOwnCopy(message: proto.IMessage): proto.IMessage {
  const inner = message.deviceSentMessage?.message;
  if (!inner) return message;
  const messageContextInfo = inner.messageContextInfo ?? message.messageContextInfo;
  return messageContextInfo ? { ...inner, messageContextInfo } : inner;
}

function openOne(
  { signal }: PhoneState,
  arrival: Arrival,
  peer: string,
  type: EncType,
  ciphertext: Uint8Array,
): proto.IMessage {
  let padded: Uint8Array;
  try {
    padded =
      type === "skmsg"
        ? signal.groupDecrypt(arrival.chat, peer, ciphertext)
        : signal.decrypt(peer, type, ciphertext).plaintext;
  } catch (error) {
    if (error instanceof SignalError) throw new Unreadable(error.reason, type);
    throw error;
  }
  const plaintext = unpad(padded);
  if (!plaintext) throw new Unreadable("bad_padding", type);
  try {
    return decodeMessage(plaintext);
  } catch {
    throw new Unreadable("bad_protobuf", type);
  }
}

/** Only one's own other devices wrap what they sent to others, and in a direct chat they always do. */
function checkWrapping(
  state: PhoneState,
  { id, chat, author, ownCopy, isPeer }: Arrival,
  { deviceSentMessage }: proto.IMessage,
): void {
  // Between own devices phones take both: real clients wrap their questions to the phone, and are answered.
  if (isPeer) return;
  const report = (what: string): void =>
    reportViolation(state, "own_copy", `message ${id} of ${author} in ${chat} ${what}`);
  const mustBeWrapped = ownCopy && !isShared(chat);
  if (mustBeWrapped !== Boolean(deviceSentMessage)) {
    report(`came ${mustBeWrapped ? "without" : "with"} deviceSentMessage`);
  } else if (deviceSentMessage && !isSamePerson(state, deviceSentMessage.destinationJid, chat)) {
    report(`says ${deviceSentMessage.destinationJid}`);
  }
}

function isSamePerson({ book }: PhoneState, jid: string | null | undefined, other: string): boolean {
  return jid != null && !isGroup(jid) && book.peer(userJid(jid)) === book.peer(other);
}

function takeSenderKey(
  state: PhoneState,
  { id, chat, author }: Arrival,
  peer: string,
  message: proto.IMessage,
): void {
  const { groupId, axolotlSenderKeyDistributionMessage: key } = message.senderKeyDistributionMessage ?? {};
  if (!groupId || !key) return;
  if (groupId !== chat)
    reportViolation(state, "sender_key_group", `${author} gave a key for ${groupId} in ${chat} (${id})`);
  try {
    state.signal.processSenderKey(groupId, peer, key);
  } catch (error) {
    if (!(error instanceof SignalError)) throw error;
    reportViolation(state, "malformed_sender_key", `in message ${id} of ${author}: ${error.message}`);
  }
}
