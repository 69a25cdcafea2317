import { createCipheriv, createDecipheriv } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { bytesField, readFields, writeFields } from "../../signal/protobuf.ts";
import { derive } from "../../signal/kdf.ts";
import { element } from "../../wire/nodes.ts";
import type { ContentKind } from "./kind.ts";

/** `SecretEncType.POLL_ADD_OPTION`, and the field of what is sealed: the protobufs at hand know neither. */
const POLL_ADD_OPTION = 5;
const POLL_ADD_OPTION_MESSAGE = 121;
const TAG_BYTES = 16;

/** Who adds an option to whose poll. The key depends on all of it. Addresses are people's, without a device. */
interface Addition {
  pollId: string;
  secret: Uint8Array;
  creator: string;
  adder: string;
}

/**
 * An option that somebody adds to a poll: `pollAddOptionMessage`, sealed with the poll's secret.
 *
 * Source: whatsapp-rust `wacore/src/secret_enc_addon.rs` ("Poll Add Option", no associated data); zapo `message/crypto/addon-crypto.ts`.
 */
export function composeOption(
  key: proto.IMessageKey,
  option: string,
  addition: Addition,
  random: Random,
): proto.IMessage {
  const added = writeFields([
    [1, proto.MessageKey.encode(key).finish()],
    [2, writeFields([[1, Buffer.from(option)]])],
  ]);
  const encIv = random.bytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(addition), encIv);
  const plain = writeFields([[POLL_ADD_OPTION_MESSAGE, added]]);
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const secretEncType = POLL_ADD_OPTION as number;
  return { secretEncryptedMessage: { targetMessageKey: key, encPayload, encIv, secretEncType } };
}

/** The option that was added; undefined when it does not open. */
export function openOption(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  addition: Addition,
): string | undefined {
  const payload = Buffer.from(encPayload ?? []);
  if (payload.length < TAG_BYTES || !encIv) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(addition), encIv);
    decipher.setAuthTag(payload.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()]);
    const added = readFields(bytesField(readFields(plain), POLL_ADD_OPTION_MESSAGE));
    return Buffer.from(bytesField(readFields(bytesField(added, 2)), 1)).toString("utf8");
  } catch {
    return undefined;
  }
}

const keyOf = ({ pollId, secret, creator, adder }: Addition): Uint8Array =>
  derive(secret, `${pollId}${creator}${adder}Poll Add Option`, 32);

/** `secretEncryptedMessage` of type POLL_ADD_OPTION; what it adds is sealed. */
export const pollOption: ContentKind = {
  stanzaType: "poll",
  read({ secretEncryptedMessage: sealed }) {
    if ((sealed?.secretEncType as number | null | undefined) !== POLL_ADD_OPTION) return undefined;
    return { kind: "poll_option", target: sealed?.targetMessageKey?.id ?? undefined };
  },
  envelope: () => ({ nodes: [element("meta", { polltype: "edit" })] }),
};
