import { createCipheriv, createDecipheriv } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { derive } from "../../signal/kdf.ts";
import type { ContentKind } from "./kind.ts";

const { MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;
const TAG_BYTES = 16;

/** Whose edit of which message. The key depends on all of it. */
interface Sealing {
  /** The edited message's id and secret. */
  id: string;
  secret: Uint8Array;
  /** Address of the author, who is also the editor, without a device. */
  author: string;
}

/**
 * An edit that can be read only by those who have the message it is about.
 *
 * @param plain  the edit as `composeEdit` writes it, without wrapper
 * @see whatsmeow `msgsecret.go`: HKDF-SHA256 over id, author, editor and "Message Edit"; AES-256-GCM without associated data
 */
export function sealEdit(
  key: proto.IMessageKey,
  plain: proto.IMessage,
  sealing: Sealing,
  random: Random,
): proto.IMessage {
  const encIv = random.bytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(sealing), encIv);
  const encoded = proto.Message.encode(plain).finish();
  const encPayload = Buffer.concat([cipher.update(encoded), cipher.final(), cipher.getAuthTag()]);
  return {
    secretEncryptedMessage: { targetMessageKey: key, encPayload, encIv, secretEncType: MESSAGE_EDIT },
  };
}

/** Opens a sealed edit; undefined when that fails. */
export function openEdit(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  sealing: Sealing,
): proto.IMessage | undefined {
  const payload = Buffer.from(encPayload ?? []);
  if (payload.length < TAG_BYTES || !encIv) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(sealing), encIv);
    decipher.setAuthTag(payload.subarray(-TAG_BYTES));
    return proto.Message.decode(
      Buffer.concat([decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()]),
    );
  } catch {
    return undefined;
  }
}

const keyOf = ({ id, secret, author }: Sealing): Uint8Array =>
  derive(secret, `${id}${author}${author}Message Edit`, 32);

/** `secretEncryptedMessage` of type MESSAGE_EDIT; what it says is sealed. */
export const sealedEdit: ContentKind = {
  stanzaType: "text",
  read({ secretEncryptedMessage: sealed }) {
    if (sealed?.secretEncType !== MESSAGE_EDIT) return undefined;
    return { kind: "edit", target: sealed.targetMessageKey?.id ?? undefined };
  },
  envelope: () => ({ attrs: { edit: "1" } }),
};
