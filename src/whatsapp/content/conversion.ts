import type { proto } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import { readEnvelope, type OwnIds, type StanzaAttributes } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { historyNotice } from "../history/notice.ts";
import { isLid, userOf, withoutDevice } from "../jids.ts";
import { secondsIn } from "../stanza-numbers.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { timerIn, type ChatTimer } from "./chat-timer.ts";
import { readContent, type Content } from "./content.ts";
import { lidUsersOf, toIncoming } from "./from-whatsapp.ts";
import { withReadablePolls } from "./newer-polls.ts";
import type { SealedReader } from "./sealed-sources.ts";

/** What one ciphertext decrypts to. */
export interface Plaintext {
  /** The encoded protobuf, without WhatsApp's padding. */
  bytes: Uint8Array;
  /** A copy for the own devices (`deviceSentMessage`) is unwrapped. */
  message: proto.IMessage;
  /** Whether it was such a copy. */
  wasWrapped: boolean;
}

/** What a plaintext means here. */
export interface Converted {
  /** Messages for people, in their order; several when the owner's phone sends some again. */
  incoming: Incoming[];
  /** A protocol message of the owner's phone, or of the service: Baileys needs it whenever it is delivered again. */
  protocol: Uint8Array | null;
  /** It brings messages of the time before the linking, which are to be imported. */
  isHistory?: true;
  /** The setting of its chat with a person that it tells of, and the names of that person. */
  timer?: { names: string[]; timer: ChatTimer };
}

/** What a conversion looks up. Reads only, so that it may run before anything of the message is stored. */
export interface ConversionDeps {
  own(): OwnIds;
  /** Numbers of LID users, as far as they are stored. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** Opens votes and sealed edits. */
  readSealed: SealedReader;
  /** Seconds by which WhatsApp's clock is ahead of the host's, see `Incoming.clockAhead`. */
  clockAhead(): number;
  /** Whether what the phone tells of the time before the linking is imported. */
  importsHistory: boolean;
  /** Messages that the own phone has sent again, in a protocol message. */
  readResent(message: proto.IMessage): Promise<Incoming[]>;
  /** The stanza was read and holds nothing for people. */
  onSilent(stanzaId: string): void;
}

/**
 * Turns plaintexts into messages.
 *
 * @throws whatever a message's own content makes it throw; `StorageUnavailable` when a look-up could not be made
 */
export type Convert = (attributes: StanzaAttributes, plaintext: Plaintext) => Promise<Converted>;

/** @throws when the bytes are no padded protobuf */
export function readPlaintext(padded: Uint8Array): Plaintext {
  const bytes = withReadablePolls(unpad(padded));
  return { bytes, ...readMessage(bytes) };
}

/** @param bytes an encoded `Message` @throws when they are none */
export function readMessage(bytes: Uint8Array): Omit<Plaintext, "bytes"> {
  const outer = baileys.proto.Message.decode(bytes);
  const inner = outer.deviceSentMessage?.message;
  return { message: inner ? withSecret(inner, outer) : outer, wasWrapped: Boolean(inner) };
}

/** WhatsApp Web puts the secret of what it sends beside its own devices' copy, not into it (zapo `message/encode/device-sent.ts`). */
function withSecret(inner: proto.IMessage, { messageContextInfo: outside }: proto.IMessage): proto.IMessage {
  const messageSecret = outside?.messageSecret;
  if (!messageSecret?.length || inner.messageContextInfo?.messageSecret?.length) return inner;
  return { ...inner, messageContextInfo: { ...inner.messageContextInfo, messageSecret } };
}

/** Makes a conversion of one connection; see `Convert`. */
export function createConversion(deps: ConversionDeps): Convert {
  function stamped(message: Incoming): Incoming {
    const clockAhead = deps.clockAhead();
    return clockAhead === 0 ? message : { ...message, clockAhead };
  }

  async function forPeople(
    attributes: StanzaAttributes,
    { bytes, message, wasWrapped }: Plaintext,
    content: Content,
  ): Promise<Incoming> {
    const lidUsers = lidUsersOf(attributes, content);
    const numbers = lidUsers.length > 0 ? await deps.numbersOfLids(lidUsers) : undefined;
    const numberOfLid = (lidUser: string): string | null => numbers?.get(lidUser) ?? null;
    const raw = wasWrapped ? baileys.proto.Message.encode(message).finish() : bytes;
    const read = stamped(toIncoming({ attributes, content, raw }, deps.own(), numberOfLid));
    if (read.type !== "poll_vote" && read.type !== "edit") return read;
    return deps.readSealed(read, message).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      // What does not open is no reason to give up that there was a vote, or an edit.
      if (read.type === "edit") return read;
      return { ...read, poll: { id: read.targetId ?? "", name: null, options: [], vote: null } };
    });
  }

  /** Groups say of themselves after how long their messages disappear. */
  async function timerOf(
    attributes: StanzaAttributes,
    { message }: Plaintext,
  ): Promise<Pick<Converted, "timer">> {
    const timer = timerIn(message, secondsIn(attributes.t));
    if (timer === null) return {};
    const users = [attributes.from, attributes.recipient].map(withoutDevice).filter(isLid).map(userOf);
    const numbers = users.length > 0 ? await deps.numbersOfLids(users) : undefined;
    const envelope = readEnvelope(attributes, deps.own(), (lidUser) => numbers?.get(lidUser) ?? null);
    const { chat, chatKey, chatKind, sender, fromMe } = envelope;
    if (chatKind !== "dm") return {};
    const names = [chat, chatKey, fromMe ? chat : (sender.lid ?? chat)];
    return { timer: { names: [...new Set(names)], timer } };
  }

  async function fromPeer(attributes: StanzaAttributes, { bytes, message }: Plaintext): Promise<Converted> {
    // Only the own phone may say what somebody else has written.
    if (!isOwn(attributes, deps.own())) return { incoming: [], protocol: bytes };
    const resent = await deps.readResent(message);
    const isHistory = deps.importsHistory && historyNotice(message) !== null;
    return { incoming: resent.map(stamped), protocol: bytes, ...(isHistory && { isHistory }) };
  }

  return async (attributes, plaintext) => {
    if (attributes.category === "peer") return fromPeer(attributes, plaintext);
    const content = readContent(plaintext.message);
    const told = await timerOf(attributes, plaintext);
    if (content !== null)
      return { incoming: [await forPeople(attributes, plaintext, content)], protocol: null, ...told };
    if (!isKeyAlone(plaintext.message)) deps.onSilent(attributes.id ?? "");
    return { incoming: [], protocol: null, ...told };
  };
}

function isOwn({ from }: StanzaAttributes, own: OwnIds): boolean {
  const writer = withoutDevice(from);
  return writer === own.pn || writer === own.lid;
}

/** A sender key travels beside the message that it opens: it says nothing of whether that one could be read. */
function isKeyAlone(message: proto.IMessage): boolean {
  const fields = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
  return fields.every(([name]) => name === "senderKeyDistributionMessage" || name === "messageContextInfo");
}

function unpad(padded: Uint8Array): Uint8Array {
  const count = padded.at(-1) ?? 0;
  if (count === 0 || count > padded.length) throw new Error("The decrypted message has no valid padding.");
  return padded.subarray(0, padded.length - count);
}
