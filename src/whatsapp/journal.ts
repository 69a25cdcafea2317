import type { proto } from "@whiskeysockets/baileys";
import type { Incoming } from "../model/messages.ts";
import type { Statement, Store } from "../store/store.ts";
import type { OwnIds, StanzaAttributes } from "./addresses.ts";
import { readContent } from "./content.ts";
import { lidUsersOf, toIncoming } from "./from-whatsapp.ts";
import { findJournalled, readUnspent, spendStatement, type JournalRow } from "./journal-rows.ts";
import { baileys } from "./baileys.ts";
import type { PollReader } from "./poll-votes.ts";

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
  /** Resolves when the messages are stored and `spend` is committed with them. */
  onMessages(messages: Incoming[], spend: Statement[]): Promise<void>;
  /** Messages could not be stored; they stay in the journal and come again at the next connection. */
  onFailed(error: unknown): void;
}

/** What is known of one decrypted ciphertext before it is committed. */
export interface Prepared {
  row: JournalRow;
  incoming: Incoming | null;
  /** Must become part of the same commit, so that no crash can lose it. */
  senderKey: proto.Message.ISenderKeyDistributionMessage | null;
}

export interface Journal {
  /** @param padded the decrypted bytes with WhatsApp's padding */
  prepare(attributes: StanzaAttributes, padded: Uint8Array): Promise<Prepared>;
  /** Hands a message on, after its row is committed. */
  deliver(hash: string, message: Incoming): void;
  /** Padded bytes of a ciphertext that was decrypted before, or null. Hands its message on again when that is still owed. */
  recall(hash: string): Promise<Uint8Array | null>;
  /** Hands on what an earlier connection or process has decrypted and not stored. */
  replay(): Promise<void>;
  /** Resolves when nothing waits to be stored. */
  idle(): Promise<void>;
}

/**
 * Between decryption and inbox. A message is written here in the commit that moves the ratchet, before its receipt can
 * leave, and handed on from here: once, in arrival order, several at a time when storing is slower than receiving.
 */
export function createJournal(deps: JournalDeps): Journal {
  const { store, deviceId } = deps;
  let waiting: { hash: string; message: Incoming }[] = [];
  let pumping: Promise<void> | undefined;

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await deps.onMessages(
          batch.map(({ message }) => message),
          batch.map(({ hash }) => spendStatement(deviceId, hash)),
        );
      } catch (error) {
        waiting = [];
        deps.onFailed(error);
      }
    }
    pumping = undefined;
  }

  function deliver(hash: string, message: Incoming): void {
    waiting.push({ hash, message });
    pumping ??= pump();
  }

  return {
    async prepare(attributes, padded) {
      const plain = unpad(padded);
      const outer = baileys.proto.Message.decode(plain);
      const inner = outer.deviceSentMessage?.message;
      const message = inner ?? outer;
      const senderKey = message.senderKeyDistributionMessage ?? null;
      if (attributes.category === "peer") return { row: protocolRow(plain), incoming: null, senderKey };
      const content = readContent(message);
      const stanzaId = attributes.id ?? "";
      if (content === null) return { row: { stanzaId, content: null }, incoming: null, senderKey };
      const raw = inner ? baileys.proto.Message.encode(inner).finish() : plain;
      const lidUsers = lidUsersOf(attributes, content);
      const numbers = lidUsers.length > 0 ? await deps.numbersOfLids(lidUsers) : undefined;
      const read = toIncoming(
        { attributes, content, raw },
        deps.own(),
        (lidUser) => numbers?.get(lidUser) ?? null,
      );
      const incoming = read.type === "poll_vote" ? await deps.readPoll(read, message) : read;
      return { row: { stanzaId, content: { message: incoming, plain: null } }, incoming, senderKey };
    },
    deliver,
    async recall(hash) {
      const content = await findJournalled(store, deviceId, hash);
      if (content === undefined) return null;
      if (content === null) return NOTHING;
      if (content.message !== null) deliver(hash, content.message);
      return pad(Buffer.from(content.message?.raw ?? content.plain ?? "", "base64"));
    },
    async replay() {
      for (const { hash, message } of await readUnspent(store, deviceId)) deliver(hash, message);
    },
    async idle() {
      await pumping;
    },
  };
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
