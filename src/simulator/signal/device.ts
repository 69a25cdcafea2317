import type { Random } from "../random.ts";
import type { KeyBundle } from "./bundle.ts";
import { type KeyPair, keyPairFrom, sign, verify, withKeyType } from "./curve.ts";
import { SignalError, isDuplicate } from "./error.ts";
import { PreKeys, SIGNED_PRE_KEY_ID } from "./pre-keys.ts";
import { SenderKeys } from "./sender-keys.ts";
import { type Session, initiate, isNamedBy, open, respond, seal } from "./session.ts";
import {
  type PreKeyMessage,
  type WhisperMessage,
  readPreKeyMessage,
  readWhisperMessage,
  writePreKeyMessage,
} from "./wire.ts";

/** Sessions kept per peer beside the current one, as Signal's own library does. */
const ARCHIVED_SESSIONS = 40;

/** A decrypted session message. */
interface Decrypted {
  plaintext: Uint8Array;
  /** The peer's identity key, from the session that fitted. */
  identity: Uint8Array;
  /** The one-time pre-key that this message used up. */
  usedPreKeyId?: number;
}

/** Newest first; the first one is what we encrypt with. */
type Sessions = readonly Session[];

/**
 * One device's Signal state: identity, pre-keys, sessions and sender keys.
 *
 * Peers are named by any string that is stable for one device. Several sessions per peer live side by side: whichever fits a
 * message becomes the current one, as on a phone. Nothing changes when an operation throws.
 */
export class SignalDevice {
  readonly registrationId: number;
  readonly identity: KeyPair;
  readonly #sessions = new Map<string, Sessions>();
  readonly #preKeys: PreKeys;
  readonly #senderKeys: SenderKeys;
  #ratchets: Random;

  private constructor(random: Random) {
    this.#preKeys = new PreKeys(random);
    this.#ratchets = random.fork("ratchets");
    this.#senderKeys = new SenderKeys(random.fork("sender keys"));
    this.identity = keyPairFrom(random.fork("identity").bytes(32));
    this.registrationId = 1 + random.fork("registration").integer(16380);
  }

  /** A new device; the same stream gives the same keys. Costs two key pairs at most. */
  static create(random: Random): SignalDevice {
    return new SignalDevice(random);
  }

  /** The signed pre-key that goes with uploads. It is never rotated. */
  get signedPreKey(): KeyBundle["signedPreKey"] {
    const pair = this.#preKeys.signed;
    return {
      id: SIGNED_PRE_KEY_ID,
      public: pair.public,
      signature: sign(this.identity, withKeyType(pair.public)),
    };
  }

  /** Makes the next `count` one-time pre-keys. Private halves are made again from the stream when they are needed. */
  uploadPreKeys(count: number): { id: number; public: Uint8Array }[] {
    return this.#preKeys.next(count);
  }

  /** Whether a message to this peer can be encrypted. */
  hasSession(peer: string): boolean {
    return (this.#sessions.get(peer)?.length ?? 0) > 0;
  }

  /** The registration id and base key of the current session with a peer. */
  sessionInfo(peer: string): { registrationId: number; baseKey: Uint8Array } | undefined {
    return this.#sessions.get(peer)?.[0];
  }

  /**
   * Starts a session that becomes the current one; earlier ones are kept for decrypting.
   *
   * @throws {SignalError} `bad_signature` when the signed pre-key is not signed by the identity
   */
  startSession(peer: string, bundle: KeyBundle): void {
    const { public: signedKey, signature, id: signedPreKeyId } = bundle.signedPreKey;
    if (!verify(bundle.identity, withKeyType(signedKey), signature)) {
      throw new SignalError("bad_signature", `The signed pre-key of ${peer} is not signed by its identity.`);
    }
    const parties = this.#parties(bundle.identity, bundle.registrationId);
    const pending = { preKeyId: bundle.preKey?.id, signedPreKeyId };
    const [base, ratchet] = [this.#freshPair(), this.#freshPair()];
    this.#keep(peer, initiate(parties, base, ratchet, signedKey, bundle.preKey?.public, pending));
  }

  /** @throws {SignalError} `no_session` */
  encrypt(peer: string, plaintext: Uint8Array): { type: "pkmsg" | "msg"; ciphertext: Uint8Array } {
    const current = this.#sessions.get(peer)?.[0];
    if (!current) throw new SignalError("no_session", `There is no session with ${peer}.`);
    const { session, message } = seal(current, plaintext);
    this.#keep(peer, session, current);
    if (!session.pending) return { type: "msg", ciphertext: message };
    const ciphertext = writePreKeyMessage({
      registrationId: this.registrationId,
      identity: this.identity.public,
      baseKey: session.baseKey,
      message,
      ...session.pending,
    });
    return { type: "pkmsg", ciphertext };
  }

  /**
   * Decrypts a session message with whichever session of the peer fits.
   *
   * @throws {SignalError} `no_session`, `bad_mac`, `duplicate`, `invalid_prekey`, `invalid_signed_prekey`, `malformed`, …
   */
  decrypt(peer: string, type: "pkmsg" | "msg", ciphertext: Uint8Array): Decrypted {
    if (type === "msg") return this.#decryptWithKnown(peer, readWhisperMessage(ciphertext));
    const preKeyMessage = readPreKeyMessage(ciphertext);
    const message = readWhisperMessage(preKeyMessage.message);
    // A pre-key header is repeated until we answer, so its session may well exist and its one-time key be gone.
    const started = this.#sessions.get(peer)?.some((session) => isNamedBy(session, preKeyMessage));
    if (started) return this.#decryptWithKnown(peer, message);
    return this.#decryptWithNew(peer, preKeyMessage, message);
  }

  /** Our sender key for a group, to be sent to its members' devices. */
  createSenderKey(group: string): Uint8Array {
    return this.#senderKeys.distribution(group);
  }

  /** Forgets our sender key for a group: the next one is new. */
  forgetSenderKey(group: string): void {
    this.#senderKeys.forgetOwn(group);
  }

  /** Takes over a sender's key. @throws {SignalError} `malformed` */
  processSenderKey(group: string, sender: string, distribution: Uint8Array): void {
    this.#senderKeys.accept(group, sender, distribution);
  }

  groupEncrypt(group: string, plaintext: Uint8Array): Uint8Array {
    return this.#senderKeys.encrypt(group, plaintext);
  }

  /** @throws {SignalError} `no_sender_key`, `bad_signature`, `duplicate`, `too_far_ahead`, `malformed` */
  groupDecrypt(group: string, sender: string, ciphertext: Uint8Array): Uint8Array {
    return this.#senderKeys.decrypt(group, sender, ciphertext);
  }

  #decryptWithKnown(peer: string, message: WhisperMessage): Decrypted {
    const sessions = this.#sessions.get(peer);
    if (!sessions) throw new SignalError("no_session", `There is no session with ${peer}.`);
    let worst: unknown;
    for (const candidate of sessions) {
      try {
        const { session, plaintext } = open(candidate, message, () => this.#freshPair());
        this.#keep(peer, session, candidate);
        return { plaintext, identity: session.theirs };
      } catch (error) {
        // "Duplicate" is certain, because that session knows the ratchet key; "bad MAC" only says "not this one".
        if (!isDuplicate(worst)) worst = error;
      }
    }
    throw worst;
  }

  #decryptWithNew(peer: string, start: PreKeyMessage, message: WhisperMessage): Decrypted {
    if (start.signedPreKeyId !== SIGNED_PRE_KEY_ID) {
      throw new SignalError("invalid_signed_prekey", `There is no signed pre-key ${start.signedPreKeyId}.`);
    }
    const parties = this.#parties(start.identity, start.registrationId);
    const fresh = respond(parties, start.baseKey, this.#preKeys.signed, this.#preKeys.unused(start.preKeyId));
    const { session, plaintext } = open(fresh, message, () => this.#freshPair());
    this.#keep(peer, session);
    this.#preKeys.use(start.preKeyId);
    return { plaintext, identity: session.theirs, usedPreKeyId: start.preKeyId };
  }

  /** Makes `session` the current one, in place of `instead` when given. */
  #keep(peer: string, session: Session, instead?: Session): void {
    const others = (this.#sessions.get(peer) ?? []).filter((known) => known !== instead);
    this.#sessions.set(peer, [session, ...others.slice(0, ARCHIVED_SESSIONS)]);
  }

  #parties(theirIdentity: Uint8Array, registrationId: number) {
    return { identity: this.identity, theirIdentity, registrationId };
  }

  #freshPair(): KeyPair {
    return keyPairFrom(this.#ratchets.bytes(32));
  }
}
