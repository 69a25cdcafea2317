import { createDecipheriv, hkdfSync } from "node:crypto";
import type { proto } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import type { SecretBox } from "../../store/store.ts";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { readContent } from "./content.ts";
import { messageSecret } from "./message-secret.ts";
import { distinct, idsOf, secretIn, type SealedReader, type SealedSources } from "./sealed-sources.ts";

const TAG_BYTES = 16;
const IV_BYTES = 12;

/** A message as its edits need it. */
interface Original {
  secret: Uint8Array;
  /** Ids that its author goes by. */
  authors: string[];
}

/**
 * Opens edits that their author has sealed with the secret of the message that they are about. One that cannot be opened, because the
 * message is not here or somebody else than its author wrote it, is told without a text.
 *
 * Source: whatsmeow `msgsecret.go`: HKDF-SHA256 over id, author, editor and "Message Edit"; AES-256-GCM without associated data.
 */
export function createEditReader(
  sources: SealedSources,
  own: () => OwnIds,
  box: Pick<SecretBox, "hmac">,
): SealedReader {
  /** Ours before what arrived: nobody can take the place of our message by using its id. */
  async function find(chatKey: string, id: string): Promise<Original | null> {
    if ((await sources.sent(id)) !== null)
      return { secret: messageSecret(box, id), authors: distinct(own().lid, own().pn) };
    const incoming = await sources.received(chatKey, id);
    const secret = incoming && secretIn(incoming);
    return secret && { secret, authors: await idsOf(incoming, own(), sources) };
  }

  return async (incoming, message) => {
    const sealed = baileys.normalizeMessageContent(message)?.secretEncryptedMessage;
    const id = incoming.targetId;
    if (!sealed || incoming.type !== "edit" || id === null) return incoming;
    const original = await find(incoming.chatKey, id);
    if (original === null) return incoming;
    const opened = open(sealed, id, original, await idsOf(incoming, own(), sources));
    return opened === null ? incoming : { ...incoming, text: textOf(opened) };
  };
}

/** The edit; null when no pair of ids fits, or the editor is not the author. */
function open(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  id: string,
  { secret, authors }: Original,
  editors: string[],
): proto.IMessage | null {
  const payload = Buffer.from(encPayload ?? []);
  if (payload.length < TAG_BYTES || encIv?.length !== IV_BYTES) return null;
  // Everybody in a group has the secret: what binds an edit to its author is that they are the same person.
  if (!editors.some((editor) => authors.includes(editor))) return null;
  for (const author of authors)
    for (const editor of editors) {
      try {
        const key = hkdfSync("sha256", secret, Buffer.alloc(32), `${id}${author}${editor}Message Edit`, 32);
        const decipher = createDecipheriv("aes-256-gcm", Buffer.from(key), encIv);
        decipher.setAuthTag(payload.subarray(-TAG_BYTES));
        const opened = [decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()];
        return baileys.proto.Message.decode(Buffer.concat(opened));
      } catch {
        // Authenticated encryption: a wrong pair gives nothing.
      }
    }
  return null;
}

/** The new text, whether the edit comes as one or as the message that it makes. */
const textOf = (message: proto.IMessage): Incoming["text"] => readContent(message)?.text ?? "";
