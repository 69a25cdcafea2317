import type { BinaryNode, proto, WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { isAction, type Draft } from "../../model/content/drafts.ts";
import { baileys, reporting } from "../baileys.ts";
import type { Composed } from "../content/compose.ts";
import { isLid } from "../jids.ts";
import { editOf, mediaTypeOf, stanzaTypeOf } from "../content/stanza-type.ts";
import { encryptTogether, type Encrypted, type EncryptionDeps } from "../signal/encrypt.ts";
import { POLL_META } from "../content/to-whatsapp-poll.ts";
import type { Ahead } from "./ahead.ts";
import { plaintextsFor } from "./plaintexts.ts";
import type { PrivacyToken } from "./privacy-tokens.ts";
import type { Recipients, Target } from "./targets.ts";

/** No device of the recipient could be encrypted for. */
export class NothingEncrypted extends Error {
  constructor() {
    super("The message could not be encrypted for any device of the recipient.");
    this.name = "NothingEncrypted";
  }
}

interface DirectMessageDeps {
  socket: WASocket;
  encryption: EncryptionDeps;
  ahead: Pick<Ahead, "take">;
}

/**
 * Encrypts a message to one person for all devices and makes its stanza. Every session is committed when this resolves:
 * what is written afterwards cannot use a position of the ratchet that a restart would use again.
 *
 * @throws {NothingEncrypted}
 */
export async function directMessage(
  { socket, encryption, ahead }: DirectMessageDeps,
  recipients: Recipients,
  message: { waId: string; draft: Draft; composed: Composed; token: PrivacyToken },
): Promise<BinaryNode> {
  const { waId, draft, composed, token } = message;
  const { jid, pn, theirs, own } = recipients;
  const encoded = baileys.proto.Message.encode(composed.message).finish();
  const attrs = encryptionAttributes(draft);
  let encrypted: (Encrypted | null)[] | null = ahead.take(waId, recipients);
  if (encrypted === null) {
    failpoint("before-encrypt");
    const plaintexts = plaintextsFor(socket, recipients, composed.message, encoded);
    encrypted = await encryptTogether(encryption, plaintexts);
  } else failpoint("after-encrypt-commit");
  const nodes = [...own, ...theirs].map((target, index) => nodeFor(target, encrypted[index] ?? null, attrs));
  const needed = theirs.length > 0 ? nodes.slice(own.length) : nodes;
  if (needed.every((node) => node === null)) throw new NothingEncrypted();
  const participants = nodes.filter((node) => node !== null);
  const content: BinaryNode[] = [{ tag: "participants", attrs: {}, content: participants }];
  if (participants.some(opensSession)) content.push(deviceIdentity(socket));
  const report = await reportingToken(jid, waId, composed.message, encoded);
  if (report !== null) content.push(report);
  if (token.node !== null) content.push(token.node);
  if (draft.kind === "poll") content.push(POLL_META);
  // What WhatsApp's own clients name beside a LID whose number they know.
  const named: Record<string, string> = isLid(jid) && pn !== null ? { peer_recipient_pn: pn } : {};
  const head = { id: waId, to: jid, ...named, ...kindAttributes(draft) };
  return { tag: "message", attrs: head, content };
}

/** The same message for some devices alone, each in a stanza of its own: as when a device has asked for it. */
export async function forSingleDevices(
  { socket, encryption }: Omit<DirectMessageDeps, "ahead">,
  recipients: Recipients,
  { waId, draft, composed }: { waId: string; draft: Draft; composed: Composed },
): Promise<BinaryNode[]> {
  const { jid, own, theirs } = recipients;
  const encoded = baileys.proto.Message.encode(composed.message).finish();
  const attrs = encryptionAttributes(draft);
  const plaintexts = plaintextsFor(socket, recipients, composed.message, encoded);
  const encrypted = await encryptTogether(encryption, plaintexts);
  return [...own, ...theirs].flatMap((target, index) => {
    const node = nodeFor(target, encrypted[index] ?? null, attrs);
    if (node === null) return [];
    const content = [...(node.content as BinaryNode[])];
    if (opensSession(node)) content.push(deviceIdentity(socket));
    if (draft.kind === "poll") content.push(POLL_META);
    const chat: Record<string, string> = index < own.length ? { recipient: jid } : {};
    const head = { id: waId, to: target.jid, ...kindAttributes(draft), device_fanout: "false", ...chat };
    return [{ tag: "message", attrs: head, content }];
  });
}

/** Null when it failed: the others get the message, and this device asks for it once it hears of it. */
function nodeFor(
  { jid }: Target,
  encrypted: Encrypted | null,
  attrs: Record<string, string>,
): BinaryNode | null {
  if (encrypted === null) return null;
  const { type, ciphertext } = encrypted;
  const enc = { tag: "enc", attrs: { v: "2", type, ...attrs }, content: ciphertext };
  return { tag: "to", attrs: { jid }, content: [enc] };
}

const opensSession = ({ content }: BinaryNode): boolean =>
  Array.isArray(content) && content[0]?.attrs.type === "pkmsg";

/** What the stanza says of its content. */
export function kindAttributes(draft: Draft): Record<string, string> {
  const edit = editOf(draft);
  return { type: stanzaTypeOf(draft), ...(edit !== null && { edit }) };
}

function encryptionAttributes(draft: Draft): Record<string, string> {
  const mediatype = mediaTypeOf(draft);
  return {
    ...(mediatype !== null && { mediatype }),
    // What is done to another message and cannot be read is nothing that a person should be told of.
    ...(isAction(draft) && { "decrypt-fail": "hide" }),
  };
}

const deviceIdentity = ({ authState }: WASocket): BinaryNode => ({
  tag: "device-identity",
  attrs: {},
  content: baileys.encodeSignedDeviceIdentity(authState.creds.account!, true),
});

/** Lets the recipient report the message to WhatsApp. */
async function reportingToken(
  jid: string,
  waId: string,
  message: proto.IMessage,
  encoded: Uint8Array,
): Promise<BinaryNode | null> {
  if (!message.messageContextInfo?.messageSecret || !reporting.shouldIncludeReportingToken(message))
    return null;
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  const key = { id: waId, fromMe: true, remoteJid: jid };
  return reporting.getMessageReportingToken(bytes, message, key).catch(() => null);
}
