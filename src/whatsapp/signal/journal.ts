import type { proto } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import type { Store } from "../../store/store.ts";
import type { StanzaAttributes } from "../addresses.ts";
import { readPlaintext, type Convert, type Converted, type Plaintext } from "../content/conversion.ts";
import {
  findJournalled,
  historyId,
  readHistories,
  readOwed,
  spendStatement,
  type JournalEntry,
  type OwedHistory,
  type OwedMessages,
} from "./journal-rows.ts";

// A history of this size in one message comes at linking only. Losing it to a crash costs names, no messages; what is to be
// imported is kept, as long as a stanza may be.
const MAX_PROTOCOL_BYTES = 256 * 1024;
/** The shortest padding. */
const PADDING = Uint8Array.of(1);
/** An empty message with its padding: what a redelivery of something long done with decrypts to. */
const NOTHING = PADDING;

/** What a journal needs of its connection. */
export interface JournalDeps {
  store: Store;
  deviceId: number;
  convert: Convert;
  /** What storing these messages takes. */
  receive(messages: Incoming[]): Intake;
  /** What storing the setting of a chat takes. */
  learned(timer: NonNullable<Converted["timer"]>): Intake;
  /**
   * A message was decrypted and can be made nothing of, or cannot be stored for a reason of its own. Resolves when that is
   * stored; rejects, with the connection closed, when it cannot be.
   */
  onUnreadable(attributes: StanzaAttributes, error: unknown): Promise<void>;
  /** The same for a row of an earlier version that does not open, of which nothing but its id is known. */
  onUnreadableRow(stanzaId: string, error: unknown): Promise<void>;
  /** A piece of history is stored that is to be imported. */
  onHistory(): void;
  /** The database failed: nothing after this may be acknowledged. */
  onFailed(error: unknown): void;
}

/** What is known of one decrypted ciphertext before it is committed. */
export interface Prepared {
  /** Becomes part of the commit that moves the ratchet. */
  entry: JournalEntry;
  /** The same: no crash may lose it. */
  senderKey: proto.Message.ISenderKeyDistributionMessage | null;
}

/**
 * What was decrypted, and what becomes of it. The inbox rows of a ciphertext's messages and its hash are one commit with the
 * ratchet that has decrypted it; the receipt leaves after that commit.
 */
export interface Journal {
  /**
   * What can be made nothing of is noted as missing, and spent: it would fail again however often it came.
   *
   * @param padded the decrypted bytes with WhatsApp's padding
   * @param plaintext the same, when they have been read already
   * @throws what a look-up throws when the database does not answer, after `onFailed`
   */
  prepare(attributes: StanzaAttributes, padded: Uint8Array, plaintext?: Plaintext): Promise<Prepared>;
  /** Padded bytes of a ciphertext that was decrypted before, or null. Empty when nothing is left to do with it. */
  recall(hash: string): Promise<Uint8Array | null>;
  /** Pieces of history that are not imported as a whole, oldest first. */
  histories(): AsyncGenerator<OwedHistory>;
  /** Nothing is left to do with a ciphertext's content. */
  spend(hash: string): Promise<void>;
  /** Stores what version 0.1 has decrypted and not stored: it made two commits of it. */
  replay(): Promise<void>;
}

/** The journal of one connection; see `Journal`. */
export function createJournal(deps: JournalDeps): Journal {
  const { store, deviceId } = deps;

  async function storeMessages(hash: string, messages: Incoming[]): Promise<void> {
    const intake = deps.receive(messages);
    const results = await store.writer.commit([...intake.statements, spendStatement(deviceId, hash)]);
    intake.committed(results.slice(0, intake.statements.length));
  }

  async function giveUp({ hash, stanzaId }: OwedMessages, error: unknown): Promise<void> {
    // In this order: what the journal still owes counts as known, not as missing.
    await store.writer.commit([spendStatement(deviceId, hash)]);
    await deps.onUnreadableRow(stanzaId, error);
  }

  async function replayRow(owed: OwedMessages): Promise<void> {
    try {
      const messages = owed.open();
      if (messages.length > 0) await storeMessages(owed.hash, messages);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      // One row that cannot be handed on must not keep its number offline for ever.
      await giveUp(owed, error);
    }
  }

  return {
    async prepare(attributes, padded, plaintext) {
      let senderKey: Prepared["senderKey"] = null;
      try {
        const entry = await entryOf(deps, attributes, plaintext ?? readPlaintext(padded), (message) => {
          senderKey = message.senderKeyDistributionMessage ?? null;
        });
        return { entry, senderKey };
      } catch (error) {
        if (error instanceof StorageUnavailable) {
          // The sender would be asked to encrypt anew what was decrypted well.
          deps.onFailed(error);
          throw error;
        }
        await deps.onUnreadable(attributes, error);
        const stanzaId = attributes.id ?? "";
        return {
          entry: { stanzaId, content: null, intake: NO_INTAKE, refused: async () => undefined },
          senderKey,
        };
      }
    },
    async recall(hash) {
      const found = await findJournalled(store, deviceId, hash);
      if (found === null) return null;
      try {
        const content = found.open();
        const plain = content?.plain ?? content?.message?.raw ?? null;
        return plain === null ? NOTHING : pad(Buffer.from(plain, "base64"));
      } catch (error) {
        // A protocol message, which the phone can be asked for again.
        await deps.onUnreadableRow("", error);
        return NOTHING;
      }
    },
    histories: () => readHistories(store, deviceId),
    async spend(hash) {
      await store.writer.commit([spendStatement(deviceId, hash)]);
    },
    async replay() {
      for await (const owed of readOwed(store, deviceId)) await Promise.all(owed.map(replayRow));
    },
  };
}

const pad = (plain: Uint8Array): Uint8Array => Buffer.concat([plain, PADDING]);

/** What becomes of a plaintext. @param onPlaintext told of it before anything is made of it */
async function entryOf(
  deps: JournalDeps,
  attributes: StanzaAttributes,
  plaintext: Plaintext,
  onPlaintext: (message: proto.IMessage) => void,
): Promise<JournalEntry> {
  onPlaintext(plaintext.message);
  const { incoming, protocol, timer, isHistory = false } = await deps.convert(attributes, plaintext);
  const received = incoming.length > 0 ? deps.receive(incoming) : NO_INTAKE;
  const isKept = protocol !== null && (isHistory || protocol.length <= MAX_PROTOCOL_BYTES);
  const id = attributes.id ?? "";
  return {
    // Rows of protocol messages have no stanza id: that is how the sweep knows them.
    stanzaId: isHistory ? historyId(id) : protocol === null ? id : "",
    content: isKept ? { message: null, plain: Buffer.from(protocol).toString("base64") } : null,
    intake: isHistory
      ? joinIntakes(received, { ...NO_INTAKE, committed: deps.onHistory })
      : timer === undefined
        ? received
        : joinIntakes(received, deps.learned(timer)),
    refused: (error) => deps.onUnreadable(attributes, error),
  };
}
