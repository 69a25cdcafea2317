/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import { createRequire } from "node:module";
import { libsignal, whisperMessages } from "../../src/whatsapp/baileys.ts";
import { openSession, type StoredRecord } from "../../src/whatsapp/everyday/record.ts";
import { pruneSession } from "../../src/whatsapp/signal/prune.ts";

const fromBaileys = createRequire(createRequire(import.meta.url).resolve("@whiskeysockets/baileys"));

interface KeyPair {
  pubKey: Buffer;
  privKey: Buffer;
}
interface SignalRecord {
  serialize(): StoredRecord;
}
interface Bundle {
  identityKey: Buffer;
  registrationId: number;
  signedPreKey: { keyId: number; publicKey: Buffer; signature: Buffer };
}
interface Cipher {
  encrypt(content: Buffer): Promise<{ type: number; body: Buffer }>;
  decryptWhisperMessage(message: Buffer): Promise<Buffer>;
  decryptPreKeyWhisperMessage(message: Buffer): Promise<Buffer>;
}

const curve = fromBaileys("libsignal/src/curve.js") as {
  generateKeyPair(): KeyPair;
  calculateSignature(privateKey: Buffer, message: Buffer): Buffer;
};
const { SessionBuilder, SessionCipher, SessionRecord, ProtocolAddress } = libsignal as unknown as {
  SessionBuilder: new (storage: object, address: object) => { initOutgoing(bundle: Bundle): Promise<void> };
  SessionCipher: new (storage: object, address: object) => Cipher;
  SessionRecord: { deserialize(record: StoredRecord): SignalRecord };
  ProtocolAddress: new (id: string, device: number) => object;
};

/** libsignal's number for a message that opens a session. */
export const PREKEY_TYPE = 3;
const MAC_BYTES = 8;
/** What libsignal notes as the time of each use; the same for both, so that records can be compared as text. */
export const NOW = 1_700_000_000_000;

/** A ciphertext on its way. */
export interface Message {
  type: number;
  body: Buffer;
  text: string;
}

/** What libsignal made of something; null: it refuses. */
export interface ByLibsignal {
  plaintext: string;
  record: StoredRecord;
}

/** One of the two who write to each other: what it has in memory, what its database has, and what waits for it. */
export class Party {
  readonly name: string;
  readonly identity = curve.generateKeyPair();
  readonly #signedPreKey = curve.generateKeyPair();
  /** In memory; ahead of the database while a commit is under way. */
  record: StoredRecord | null = null;
  /** In the database. Nothing is ever changed in place, so that it need not be text until somebody reads it. */
  #stored: StoredRecord | null = null;
  inbox: Message[] = [];
  /** Texts whose reading was committed. */
  readonly read = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  /** Committed; memory has the same. */
  keep(record: StoredRecord): void {
    this.stage(record);
    this.#stored = this.record;
  }

  /** Shown to readers, and not committed: whatever is committed on top of it has it in it. */
  stage(record: StoredRecord): void {
    this.record = pruneSession(record) as StoredRecord;
  }

  /** What is in memory is what the database gives. */
  restart(): void {
    this.record = JSON.parse(JSON.stringify(this.#stored)) as StoredRecord | null;
  }

  /** libsignal opens a session with somebody. */
  async meet(other: Party): Promise<void> {
    const { storage, changed } = this.#storage();
    const { pubKey: publicKey } = other.#signedPreKey;
    const signature = curve.calculateSignature(other.identity.privKey, publicKey);
    const bundle = {
      identityKey: other.identity.pubKey,
      registrationId: 7,
      signedPreKey: { keyId: 1, publicKey, signature },
    };
    await new SessionBuilder(storage, addressOf(other)).initOutgoing(bundle);
    this.keep(changed.record!);
  }

  /** libsignal encrypts on what is in memory, and leaves that as it was. */
  async encrypt(text: string): Promise<{ type: number; body: Buffer; record: StoredRecord }> {
    const { storage, changed } = this.#storage();
    const { type, body } = await new SessionCipher(storage, addressOf(this)).encrypt(Buffer.from(text));
    return { type, body: Buffer.from(body), record: changed.record! };
  }

  /**
   * libsignal decrypts on what is in memory, and leaves that as it was.
   *
   * @param own what the everyday ratchet has made of it: libsignal draws the same fresh pair, so that both can be compared whole
   */
  async decrypt({ type, body }: Message, own: StoredRecord | null): Promise<ByLibsignal | null> {
    const { storage, changed } = this.#storage();
    const { generateKeyPair } = curve;
    const { now } = Date;
    if (own !== null) {
      const { pubKey, privKey } = openSession(own)!.session.currentRatchet.ephemeralKeyPair;
      const pair = { pubKey: Buffer.from(pubKey, "base64"), privKey: Buffer.from(privKey, "base64") };
      curve.generateKeyPair = () => pair;
    }
    Date.now = () => NOW;
    try {
      const cipher = new SessionCipher(storage, addressOf(this));
      const read =
        type === PREKEY_TYPE
          ? await cipher.decryptPreKeyWhisperMessage(body)
          : await cipher.decryptWhisperMessage(body);
      return { plaintext: read.toString(), record: changed.record! };
    } catch {
      return null;
    } finally {
      curve.generateKeyPair = generateKeyPair;
      Date.now = now;
    }
  }

  /** Whether a session knows the message's chain and has, or can derive, its key: then it must be read. */
  mustRead({ body }: Message): boolean {
    const { chain, counter } = positionOf(body);
    for (const { _chains: chains } of Object.values(this.record?._sessions ?? {})) {
      const found = chains[chain];
      if (found === undefined) continue;
      const { counter: last, key } = found.chainKey;
      return counter in found.messageKeys || (key !== undefined && counter > last && counter - last <= 2_000);
    }
    return false;
  }

  /** `changed` is what libsignal stores; what it is given it reads into buffers of its own. */
  #storage() {
    const changed: { record: StoredRecord | null } = { record: null };
    const storage = {
      loadSession: async () => this.record && SessionRecord.deserialize(this.record),
      storeSession: async (_address: string, record: SignalRecord) => {
        changed.record = record.serialize();
      },
      isTrustedIdentity: () => true,
      getOurRegistrationId: () => 7,
      getOurIdentity: () => this.identity,
      loadPreKey: async () => undefined,
      removePreKey: async () => undefined,
      loadSignedPreKey: () => this.#signedPreKey,
    };
    return { storage, changed };
  }
}

const addressOf = ({ name }: Party): object => new ProtocolAddress(name, 0);

/** Whose key a message of an open session is encrypted with: no two may have the same. */
export function positionOf(body: Buffer): { chain: string; counter: number } {
  const { ephemeralKey, counter } = whisperMessages.decode(body.subarray(1, -MAC_BYTES));
  return { chain: Buffer.from(ephemeralKey).toString("base64"), counter };
}
