import { baileys } from "../baileys.ts";

const { MESSAGE_EDIT } = baileys.proto.Message.SecretEncryptedMessage.SecretEncType;
/** The client library does not know these two; whatsapp-rust `waproto/src/whatsapp.proto`. */
const POLL_EDIT = 4;
const POLL_ADD_OPTION = 5;

/** What is sealed with the secret of the message that it changes. */
export interface SealedKind {
  /** Words that the key depends on, the likeliest first. */
  uses: string[];
  /** Only who wrote the message may change it so. */
  authorOnly: boolean;
  /** It adds an option to a poll. */
  addsOption?: true;
}

/**
 * By `secretEncType`. Source: whatsapp-rust `wacore/src/secret_enc_addon.rs`, zapo `message/crypto/use-case-secret.ts`;
 * whatsmeow `msgsecret.go` opens added options with the words of an edit.
 */
const KINDS = new Map<number, SealedKind>([
  [MESSAGE_EDIT, { uses: ["Message Edit"], authorOnly: true }],
  [POLL_EDIT, { uses: ["Poll Edit"], authorOnly: true }],
  [POLL_ADD_OPTION, { uses: ["Poll Add Option", "Poll Edit"], authorOnly: false, addsOption: true }],
]);

/** Undefined for what changes nothing that people have written. */
export const sealedKind = (type: number | null | undefined): SealedKind | undefined => KINDS.get(type ?? 0);
