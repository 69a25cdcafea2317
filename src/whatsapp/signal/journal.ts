import type { proto } from "@whiskeysockets/baileys";
import { hasFailpoints, isArmed } from "../../model/failpoint.ts";
import type { Incoming } from "../../model/messages.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { OwnIds, StanzaAttributes } from "../addresses.ts";
import { readContent, type Content } from "../content/content.ts";
import { lidUsersOf, toIncoming } from "../content/from-whatsapp.ts";
import { findJournalled, messagesIn, readUnspent, spendStatement, type JournalRow } from "./journal-rows.ts";
import { baileys } from "../baileys.ts";
import { withoutDevice } from "../jids.ts";
import type { PollReader } from "../content/poll-votes.ts";

// A history of this size in one message comes at linking only. Losing it to a crash costs names, no messages.
const MAX_PROTOCOL_BYTES = 256 * 1024;
/** An empty message with its padding: what a redelivery of something long done with decrypts to. */
const NOTHING = Uint8Array.of(1);

export interface JournalDeps {
  store: Store;
  deviceId: number;
  own(): OwnIds;
  /** Numbers of LID users, as far as they are stored. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  readPoll: PollReader;
  /** Seconds by which WhatsApp's clock is ahead of the host's, see `Incoming.clockAhead`. */
  clockAhead(): number;
  /** Messages that the own phone has sent again, in a protocol message. */
  readResent(message: proto.IMessage): Promise<Incoming[]>;
  /** Resolves when the messages are stored and `spend` is committed with them. */
  onMessages(messages: Incoming[], spend: Statement[]): Promise<void>;
  /** The stanza was read and holds nothing for people. */
  onSilent(stanzaId: string): void;
  /** Messages could not be stored; they stay in the journal and come again at the next connection. */
  onFailed(error: unknown): void;
}

/** What is known of one decrypted ciphertext before it is committed. */
export interface Prepared {
  row: JournalRow;
  incoming: Incoming[];
  /** Must become part of the same commit, so that no crash can lose it. */
  senderKey: proto.Message.ISenderKeyDistributionMessage | null;
}

export interface Journal {
  /** @param padded the decrypted bytes with WhatsApp's padding */
  prepare(attributes: StanzaAttributes, padded: Uint8Array): Promise<Prepared>;
  /** Hands messages on, after their row is committed. */
  deliver(hash: string, messages: Incoming[]): void;
  /** Padded bytes of a ciphertext that was decrypted before, or null. Hands its messages on again when that is still owed. */
  recall(hash: string): Promise<Uint8Array | null>;
  /** A message of this chat on its way to the inbox; null when there is none under that id. */
  find(chatKey: string, waId: string): Incoming | null;
  /** Hands on what an earlier connection or process has decrypted and not stored. */
  replay(): Promise<void>;
  /** Resolves when nothing waits to be stored. */
  idle(): Promise<void>;
}

interface Waiting {
  hash: string;
  messages: Incoming[];
}

/**
 * Between decryption and inbox. A message is written here in the commit that moves the ratchet, before its receipt can
 * leave, and handed on from here: once, in arrival order, several at a time when storing is slower than receiving.
 */
export function createJournal(deps: JournalDeps): Journal {
  const { store, deviceId } = deps;
  let waiting: Waiting[] = [];
  let underWay: Waiting[] = [];
  let pumping: Promise<void> | undefined;

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      if (hasFailpoints && isArmed("after-receipt")) return;
      underWay = waiting;
      waiting = [];
      try {
        await deps.onMessages(
          underWay.flatMap(({ messages }) => messages),
          underWay.map(({ hash }) => spendStatement(deviceId, hash)),
        );
      } catch (error) {
        waiting = [];
        deps.onFailed(error);
      }
    }
    underWay = [];
    pumping = undefined;
  }

  function deliver(hash: string, messages: Incoming[]): void {
    waiting.push({ hash, messages });
    pumping ??= pump();
  }

  function stamped(message: Incoming): Incoming {
    const clockAhead = deps.clockAhead();
    return clockAhead === 0 ? message : { ...message, clockAhead };
  }

  async function prepareForPeople(
    attributes: StanzaAttributes,
    message: proto.IMessage,
    content: Content,
    raw: Uint8Array,
  ): Promise<Incoming> {
    const lidUsers = lidUsersOf(attributes, content);
    const numbers = lidUsers.length > 0 ? await deps.numbersOfLids(lidUsers) : undefined;
    const numberOfLid = (lidUser: string): string | null => numbers?.get(lidUser) ?? null;
    const read = stamped(toIncoming({ attributes, content, raw }, deps.own(), numberOfLid));
    if (read.type !== "poll_vote") return read;
    return deps.readPoll(read, message).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      // A poll that does not open is no reason to refuse the vote for ever.
      return { ...read, poll: { id: read.targetId ?? "", name: null, options: [], vote: null } };
    });
  }

  async function preparePeer(attributes: StanzaAttributes, message: proto.IMessage, plain: Uint8Array) {
    const row = protocolRow(plain);
    const resent = isOwn(attributes, deps.own()) ? (await deps.readResent(message)).map(stamped) : [];
    if (resent.length === 0) return { row, incoming: [] };
    const content = { message: null, plain: row.content?.plain ?? null, resent };
    return { row: { stanzaId: attributes.id ?? "", content }, incoming: resent };
  }

  return {
    async prepare(attributes, padded) {
      const plain = unpad(padded);
      const outer = baileys.proto.Message.decode(plain);
      const inner = outer.deviceSentMessage?.message;
      const message = inner ?? outer;
      const senderKey = message.senderKeyDistributionMessage ?? null;
      const stanzaId = attributes.id ?? "";
      const content = attributes.category === "peer" ? null : readContent(message);
      try {
        if (attributes.category === "peer")
          return { ...(await preparePeer(attributes, message, plain)), senderKey };
        if (content === null) {
          if (!isKeyAlone(message)) deps.onSilent(stanzaId);
          return { row: { stanzaId, content: null }, incoming: [], senderKey };
        }
        const raw = inner ? baileys.proto.Message.encode(inner).finish() : plain;
        const incoming = await prepareForPeople(attributes, message, content, raw);
        return {
          row: { stanzaId, content: { message: incoming, plain: null } },
          incoming: [incoming],
          senderKey,
        };
      } catch (error) {
        // The sender would be asked to encrypt anew what was decrypted well.
        if (error instanceof StorageUnavailable) deps.onFailed(error);
        throw error;
      }
    },
    deliver,
    async recall(hash) {
      const content = await findJournalled(store, deviceId, hash);
      if (content === undefined) return null;
      if (content === null) return NOTHING;
      const messages = messagesIn(content);
      if (messages.length > 0) deliver(hash, messages);
      return pad(Buffer.from(content.message?.raw ?? content.plain ?? "", "base64"));
    },
    find(chatKey, waId) {
      for (const { messages } of [...underWay, ...waiting])
        for (const message of messages)
          if (message.id === waId && message.chatKey === chatKey) return message;
      return null;
    },
    async replay() {
      for (const { hash, messages } of await readUnspent(store, deviceId)) deliver(hash, messages);
    },
    async idle() {
      await pumping;
    },
  };
}

/** Only the own phone may say what somebody else has written. */
function isOwn({ from }: StanzaAttributes, own: OwnIds): boolean {
  const writer = withoutDevice(from);
  return writer === own.pn || writer === own.lid;
}

/** A sender key travels beside the message that it opens: it says nothing of whether that one could be read. */
function isKeyAlone(message: proto.IMessage): boolean {
  const fields = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
  return fields.every(([name]) => name === "senderKeyDistributionMessage" || name === "messageContextInfo");
}

/** Rows of the phone's own protocol messages have no stanza id: that is how the sweep knows them. */
function protocolRow(plain: Uint8Array): JournalRow {
  if (plain.length > MAX_PROTOCOL_BYTES) return { stanzaId: "", content: null };
  return {
    stanzaId: "",
    content: { message: null, plain: Buffer.from(plain).toString("base64") },
  };
}

function unpad(padded: Uint8Array): Uint8Array {
  const count = padded.at(-1) ?? 0;
  if (count === 0 || count > padded.length) throw new Error("The decrypted message has no valid padding.");
  return padded.subarray(0, padded.length - count);
}

const pad = (plain: Uint8Array): Uint8Array => Buffer.concat([plain, NOTHING]);
