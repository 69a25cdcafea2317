import { createRequire } from "node:module";
import { libsignal } from "../../src/whatsapp/baileys.ts";
import { decrypt, encrypt } from "../../src/whatsapp/everyday/ratchet.ts";
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

const curve = fromBaileys("libsignal/src/curve.js") as {
  generateKeyPair(): KeyPair;
  calculateSignature(privateKey: Buffer, message: Buffer): Buffer;
};
const { SessionBuilder, SessionCipher, SessionRecord, ProtocolAddress } = libsignal as unknown as {
  SessionBuilder: new (storage: object, address: object) => { initOutgoing(bundle: Bundle): Promise<void> };
  SessionCipher: new (
    storage: object,
    address: object,
  ) => {
    encrypt(content: Buffer): Promise<{ type: number; body: Buffer }>;
    decryptWhisperMessage(message: Buffer): Promise<Buffer>;
    decryptPreKeyWhisperMessage(message: Buffer): Promise<Buffer>;
  };
  SessionRecord: { deserialize(record: StoredRecord): SignalRecord };
  ProtocolAddress: new (id: string, device: number) => object;
};

const PREKEY_TYPE = 3;
const MOST_UNDER_WAY = 40;

interface Message {
  type: number;
  body: Buffer;
  text: string;
}

/** What a run has done, for whoever wants to know that it has done something. */
export interface RatchetTally {
  sent: number;
  read: number;
  refusedByBoth: number;
  /** On a session that was closed meanwhile. */
  readByLibsignalAlone: number;
}

class Party {
  readonly name: string;
  readonly identity = curve.generateKeyPair();
  readonly signedPreKey = curve.generateKeyPair();
  record: StoredRecord | null = null;
  inbox: Message[] = [];
  read = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  bundle(): Bundle {
    const { pubKey: publicKey } = this.signedPreKey;
    const signature = curve.calculateSignature(this.identity.privKey, publicKey);
    const signedPreKey = { keyId: 1, publicKey, signature };
    return { identityKey: this.identity.pubKey, registrationId: 7, signedPreKey };
  }

  /** libsignal's view of the record; `changed` is what it stores. */
  storage() {
    const changed: { record: StoredRecord | null } = { record: null };
    const storage = {
      loadSession: async () => this.record && SessionRecord.deserialize(structuredClone(this.record)),
      storeSession: async (_address: string, record: SignalRecord) => {
        changed.record = record.serialize();
      },
      isTrustedIdentity: () => true,
      getOurRegistrationId: () => 7,
      getOurIdentity: () => this.identity,
      loadPreKey: async () => undefined,
      removePreKey: async () => undefined,
      loadSignedPreKey: () => this.signedPreKey,
    };
    return { storage, changed };
  }

  /** Each change goes through the database and back, as after a restart. */
  keep(record: StoredRecord): void {
    this.record = JSON.parse(JSON.stringify(pruneSession(record))) as StoredRecord;
  }
}

/**
 * Two parties, one session at a time: each step goes both by the everyday ratchet and by libsignal, on the same record, and
 * what either gives must be what the other gives, to the byte. Which of the two records is kept is chosen at random.
 */
export class RatchetRun {
  readonly tally: RatchetTally = { sent: 0, read: 0, refusedByBoth: 0, readByLibsignalAlone: 0 };
  readonly #ana = new Party("ana");
  readonly #ben = new Party("ben");
  readonly #random: () => number;

  /** @param seed runs of one seed take the same steps */
  constructor(seed: number) {
    this.#random = mulberry(seed);
  }

  /** @throws Error that says what the two did differently */
  async run(steps: number): Promise<RatchetTally> {
    await this.#meet(this.#ana, this.#ben);
    for (let step = 0; step < steps; step++) {
      const [one, other] = this.#random() < 0.5 ? [this.#ana, this.#ben] : [this.#ben, this.#ana];
      await this.#step(one, other);
    }
    return this.tally;
  }

  async #step(one: Party, other: Party): Promise<void> {
    const dice = this.#random();
    if (dice < 0.0004) return this.#meet(one, other);
    if (dice < 0.4 && other.inbox.length < MOST_UNDER_WAY) return this.#send(one, other);
    if (one.inbox.length === 0) return;
    const at = this.#pick(one.inbox.length);
    const message = one.inbox[at]!;
    if (dice > 0.95) return void one.inbox.splice(at, 1);
    if (dice > 0.9) return this.#receive(one, this.#forged(message), false);
    // One in five comes again.
    if (this.#random() < 0.8) one.inbox.splice(at, 1);
    await this.#receive(one, message, !one.read.has(message.text));
  }

  /** A new session, in the middle of whatever is under way on the one before. */
  async #meet(one: Party, other: Party): Promise<void> {
    const { storage, changed } = one.storage();
    await new SessionBuilder(storage, addressOf(other)).initOutgoing(other.bundle());
    one.keep(changed.record!);
    await this.#send(one, other);
  }

  async #send(from: Party, to: Party): Promise<void> {
    // Who has not been written to yet knows nothing of the session.
    if (from.record === null) return;
    const text = `${from.name} ${++this.tally.sent} ${"x".repeat(this.#pick(40))}`;
    const { storage, changed } = from.storage();
    const own = everyday(() => encrypt(from.record!, Buffer.from(text), from.identity.pubKey));
    const theirs = await new SessionCipher(storage, addressOf(to)).encrypt(Buffer.from(text));
    const unconfirmed = theirs.type === PREKEY_TYPE;
    if (unconfirmed !== (own === null)) throw new Error("one of the two encrypts, and the other does not");
    if (own !== null) {
      if (!own.ciphertext.equals(theirs.body)) throw new Error("the two encrypt to different bytes");
      expectSame(own.record, changed.record!);
    }
    from.keep(own !== null && this.#random() < 0.5 ? own.record : changed.record!);
    to.inbox.push({ type: theirs.type, body: Buffer.from(theirs.body), text });
  }

  /** @param fits whether it must be read: false for what was read before, or is forged */
  async #receive(to: Party, message: Message, fits: boolean): Promise<void> {
    if (message.type === PREKEY_TYPE) return this.#receiveFirst(to, message);
    if (to.record === null) return;
    const own = everyday(() => decrypt(to.record!, message.body, to.identity.pubKey, 0));
    const { plaintext, record } = await this.#byLibsignal(to, message, own?.record ?? null);
    if (own === null) return this.#refused(to, { plaintext, record, text: message.text });
    if (plaintext === null) throw new Error("the everyday ratchet reads what libsignal refuses");
    if (!fits || plaintext !== message.text || own.plaintext.toString() !== plaintext)
      throw new Error("something else was read than was written");
    expectSame(own.record, record!);
    to.read.add(message.text);
    this.tally.read++;
    to.keep(this.#random() < 0.5 ? own.record : record!);
  }

  #refused(
    to: Party,
    { plaintext, record, text }: { plaintext: string | null; record: StoredRecord | null; text: string },
  ): void {
    if (plaintext === null) {
      this.tally.refusedByBoth++;
      return;
    }
    const [before, after] = [openSession(to.record!), openSession(record!)];
    if (JSON.stringify(before) !== JSON.stringify(after))
      throw new Error("the everyday ratchet refuses what libsignal reads on the open session");
    to.read.add(text);
    this.tally.readByLibsignalAlone++;
    to.keep(record!);
  }

  async #receiveFirst(to: Party, message: Message): Promise<void> {
    const { storage, changed } = to.storage();
    const cipher = new SessionCipher(storage, addressOf(to));
    const plaintext = await cipher.decryptPreKeyWhisperMessage(message.body).catch(() => null);
    if (plaintext === null) return;
    to.read.add(plaintext.toString());
    to.keep(changed.record!);
  }

  /** libsignal draws the same fresh pair, so that both records can be compared whole. */
  async #byLibsignal(
    to: Party,
    { body }: Message,
    own: StoredRecord | null,
  ): Promise<{ plaintext: string | null; record: StoredRecord | null }> {
    const { storage, changed } = to.storage();
    const generate = curve.generateKeyPair;
    if (own !== null) {
      const { pubKey, privKey } = openSession(own)!.session.currentRatchet.ephemeralKeyPair;
      curve.generateKeyPair = () => ({
        pubKey: Buffer.from(pubKey, "base64"),
        privKey: Buffer.from(privKey, "base64"),
      });
    }
    try {
      const read = await new SessionCipher(storage, addressOf(to)).decryptWhisperMessage(body);
      return { plaintext: read.toString(), record: changed.record };
    } catch {
      return { plaintext: null, record: null };
    } finally {
      curve.generateKeyPair = generate;
    }
  }

  #forged(message: Message): Message {
    const body = Buffer.from(message.body);
    if (this.#random() < 0.1) return { ...message, body: body.subarray(0, this.#pick(body.length)) };
    // Of the byte in front, which no MAC covers, libsignal takes several values; the everyday ratchet leaves those to it.
    body[1 + this.#pick(body.length - 1)]! ^= 1 << this.#pick(8);
    return { ...message, body };
  }

  #pick(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

const addressOf = ({ name }: Party): object => new ProtocolAddress(name, 0);

/** What the everyday ratchet gives; null when it refuses. */
function everyday<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    // What OpenSSL and the protobuf's reader refuse is refused as well; a mistake of our own is not.
    if (error instanceof TypeError && !("code" in error)) throw error;
    return null;
  }
}

function expectSame(one: StoredRecord, other: StoredRecord): void {
  const [a, b] = [one, other].map((record) => JSON.stringify(record).replaceAll(/"used":\d+/g, '"used":0'));
  if (a !== b) throw new Error(`the two leave different records:\n${a}\n${b}`);
}

/** Public domain; enough for choices that have to be the same again. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
