/** Edits as a phone writes and reads them, plain or sealed. */
import type { proto } from "@whiskeysockets/baileys";
import { unwrap } from "../content.ts";
import { composeEdit, edit } from "../content/edit.ts";
import { openEdit, sealEdit } from "../content/sealed-edit.ts";
import { isGroup, ownAddress, readUserJid, userJid } from "../jids.ts";
import { keyOf } from "./keys.ts";
import type { KnownMessage } from "./memory.ts";
import type { PhoneState } from "../phone-state.ts";
import { type Voter, bothAddresses } from "./votes.ts";

/** The new text of an own message: sealed when the service wants it so and the message has a secret. */
export async function writeEdit(phone: Voter, known: KnownMessage, text: string): Promise<proto.IMessage> {
  const { world, address } = phone.state;
  const plain = composeEdit(keyOf(known), text, world.time.now());
  const secret = unwrap(known.message).messageContextInfo?.messageSecret;
  if (!world.behaviour.sealedEdits || !secret?.length) return plain;
  const inLid = isGroup(known.chat)
    ? (await phone.groups.chat(known.chat)).addressing === "lid"
    : readUserJid(known.chat).server === "lid";
  const author = ownAddress(address, inLid ? "lid" : "s.whatsapp.net");
  return sealEdit(keyOf(known), unwrap(plain), { id: known.id, secret, author }, phone.desk.random);
}

/** The text of a sealed edit whose message is on this phone; its author is tried under both addresses. */
export function readSealedEdit(
  { book, memory }: PhoneState,
  message: proto.IMessage,
  author: string,
): { text?: string } | undefined {
  const { secretEncryptedMessage: sealed } = unwrap(message);
  const known = memory.find(sealed?.targetMessageKey?.id ?? "");
  const secret = known && unwrap(known.message).messageContextInfo?.messageSecret;
  if (!sealed || !known || !secret?.length) return undefined;
  for (const address of [...bothAddresses(book, author), userJid(author)]) {
    const plain = openEdit(sealed, { id: known.id, secret, author: address });
    const body = plain && edit.read(unwrap(plain));
    if (body) return { text: body.text };
  }
  return undefined;
}

/** A message with a secret of its own, as phones of today give every message one. */
export function withSecret(
  { state, desk }: Pick<Voter, "state" | "desk">,
  message: proto.IMessage,
): proto.IMessage {
  const { messageContextInfo } = message;
  if (!state.world.behaviour.sealedEdits || messageContextInfo?.messageSecret?.length) return message;
  return { ...message, messageContextInfo: { ...messageContextInfo, messageSecret: desk.random.bytes(32) } };
}
