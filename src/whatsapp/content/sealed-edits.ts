import { createDecipheriv, hkdfSync } from "node:crypto";
import type { proto } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import type { SecretBox } from "../../store/store.ts";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { readContent } from "./content.ts";
import type { FindPoll } from "./known-polls.ts";
import { messageSecret } from "./message-secret.ts";
import { addedOption, withReadablePolls } from "./newer-polls.ts";
import { sealedKind, type SealedKind } from "./sealed-kinds.ts";
import { distinct, idsOf, secretIn, type SealedReader, type SealedSources } from "./sealed-sources.ts";

const TAG_BYTES = 16;
const IV_BYTES = 12;
const LONGEST_OPTION = 1_000;

/** A message as its edits need it. */
interface Original {
  secret: Uint8Array;
  /** Ids that its author goes by. */
  authors: string[];
}

/** What is sealed, and for which message. */
interface Sealed {
  message: proto.Message.ISecretEncryptedMessage;
  kind: SealedKind;
  id: string;
}

/**
 * Opens edits that are sealed with the secret of the message that they are about: new texts and polls, by their author alone, and
 * options that anybody adds to a poll. One that cannot be opened, because the message is not here or somebody else than its
 * author wrote it, is told without a text.
 *
 * Source: whatsmeow `msgsecret.go`, whatsapp-rust `wacore/src/secret_enc_addon.rs`: HKDF-SHA256 over id, author, editor and what
 * is done; AES-256-GCM without associated data.
 */
export function createEditReader(
  sources: SealedSources,
  own: () => OwnIds,
  box: Pick<SecretBox, "hmac">,
  findPoll: FindPoll,
): SealedReader {
  /** Ours before what arrived: nobody can take the place of our message by using its id. */
  async function find(chatKey: string, id: string): Promise<Original | null> {
    if ((await sources.sent(id)) !== null)
      return { secret: messageSecret(box, id), authors: distinct(own().lid, own().pn) };
    const incoming = await sources.received(chatKey, id);
    const secret = incoming && secretIn(incoming);
    return secret && { secret, authors: await idsOf(incoming, own(), sources) };
  }

  /** A poll with one option more. */
  async function withOption(incoming: Incoming, id: string, opened: Uint8Array): Promise<Incoming> {
    const option = addedOption(opened);
    const poll = await findPoll(incoming.chatKey, id);
    if (poll === null || !option || option.length > LONGEST_OPTION) return incoming;
    const options = [...new Set([...poll.options, option])];
    return { ...incoming, text: poll.name, poll: { id, name: poll.name, options } };
  }

  return async (incoming, message) => {
    const sealed = baileys.normalizeMessageContent(message)?.secretEncryptedMessage;
    const kind = sealedKind(sealed?.secretEncType);
    const id = incoming.targetId;
    if (!sealed || kind === undefined || incoming.type !== "edit" || id === null) return incoming;
    const original = await find(incoming.chatKey, id);
    if (original === null) return incoming;
    const editors = await idsOf(incoming, own(), sources);
    const opened = open({ message: sealed, kind, id }, original, editors);
    if (opened === null) return incoming;
    return kind.addsOption ? withOption(incoming, id, opened) : withContent(incoming, id, opened);
  };
}

/** The new text, or the new poll, whether the edit comes as one or as the message that it makes. */
function withContent(incoming: Incoming, id: string, opened: Uint8Array): Incoming {
  const content = readContent(baileys.proto.Message.decode(withReadablePolls(opened)));
  const poll = content?.poll ? { poll: { ...content.poll, id } } : {};
  return { ...incoming, text: content?.text ?? "", ...poll };
}

/** What was sealed; null when no pair of ids fits, or the editor is not the author and would have to be. */
function open(
  { message, kind, id }: Sealed,
  { secret, authors }: Original,
  editors: string[],
): Uint8Array | null {
  const { encPayload, encIv } = message;
  const payload = Buffer.from(encPayload ?? []);
  if (payload.length < TAG_BYTES || encIv?.length !== IV_BYTES) return null;
  // Everybody in a group has the secret: what binds an edit to its author is that they are the same person.
  if (kind.authorOnly && !editors.some((editor) => authors.includes(editor))) return null;
  for (const use of kind.uses)
    for (const author of authors)
      for (const editor of editors) {
        const info = `${id}${author}${editor}${use}`;
        const key = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(32), info, 32));
        try {
          const decipher = createDecipheriv("aes-256-gcm", key, encIv);
          decipher.setAuthTag(payload.subarray(-TAG_BYTES));
          return Buffer.concat([decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()]);
        } catch {
          // Authenticated encryption: a wrong pair gives nothing.
        }
      }
  return null;
}
