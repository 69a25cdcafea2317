/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { baileys, whisperMessages } from "../baileys.ts";
import { agree, newKeyPair, readPublicKey } from "./curve.ts";
import {
  openSession,
  withSession,
  type StoredChain,
  type StoredRecord,
  type StoredSession,
} from "./record.ts";

/** Why a record does not take a message, or gives none. What becomes of it is decided by libsignal. */
export const RATCHET_REFUSALS = [
  "no_open_session",
  "unconfirmed_session",
  "not_a_message",
  "wrong_chain",
  "counter_jump",
  "chain_closed",
  "key_used",
  "wrong_mac",
] as const;

/** One of {@link RATCHET_REFUSALS}. */
export type RatchetRefusal = (typeof RATCHET_REFUSALS)[number];

/** The record is as it was; see `reason`. */
export class RatchetRefused extends Error {
  readonly reason: RatchetRefusal;

  /** @param reason why */
  constructor(reason: RatchetRefusal) {
    super(`The ratchet refuses the message: ${reason}.`);
    this.name = "RatchetRefused";
    this.reason = reason;
  }
}

/** What a record is after a message; the one before is as it was. */
export interface Decrypted {
  plaintext: Buffer;
  record: StoredRecord;
}

/** The same for a message that leaves. */
export interface Encrypted {
  ciphertext: Buffer;
  record: StoredRecord;
}

const SENDING = 1;
const RECEIVING = 2;
/** Messages that may be missing between two that come, as libsignal has it. */
const MOST_SKIPPED = 2_000;
const MAC_BYTES = 8;
/** Version 3 of the protocol, which speaks nothing but 3. */
const VERSIONS = 0x33;
const NO_SALT = Buffer.alloc(32);
const RATCHET = "WhisperRatchet";
const MESSAGE = "WhisperMessageKeys";
const KEY_BYTES = 32;
const MESSAGE_KEY = Uint8Array.of(1);
const CHAIN_KEY = Uint8Array.of(2);

/**
 * Decrypts a message of the record's open session; libsignal's arithmetic (`SessionCipher.decryptWhisperMessage`) over its
 * stored form, without a copy of the record and without anything asynchronous.
 *
 * @param message     version byte, protobuf, the first 8 bytes of its MAC
 * @param ownIdentity own public identity key, 33 bytes
 * @param now         Unix milliseconds
 * @throws {RatchetRefused} and what OpenSSL throws on keys and ciphertexts that are none
 */
export function decrypt(
  record: StoredRecord,
  message: Uint8Array,
  ownIdentity: Uint8Array,
  now: number,
): Decrypted {
  const open = openSession(record);
  if (open === null) throw new RatchetRefused("no_open_session");
  if (message.length <= 1 + MAC_BYTES || message[0] !== VERSIONS) throw new RatchetRefused("not_a_message");
  const body = message.subarray(1, -MAC_BYTES);
  const { ephemeralKey, counter, previousCounter, ciphertext } = whisperMessages.decode(body);
  const session = stepped(open.session, ephemeralKey, previousCounter);
  const chainKey = base64(ephemeralKey);
  const taken = takeKey(session._chains[chainKey]!, RECEIVING, counter);
  const [cipherKey, macKey, iv] = secrets(taken.messageKey, NO_SALT, MESSAGE, 3);
  const { remoteIdentityKey } = session.indexInfo;
  const mac = macOf(macKey!, Buffer.from(remoteIdentityKey, "base64"), ownIdentity, body);
  if (!timingSafeEqual(mac, message.subarray(-MAC_BYTES))) throw new RatchetRefused("wrong_mac");
  const decipher = createDecipheriv("aes-256-cbc", cipherKey!, iv!.subarray(0, 16));
  const plaintext = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  // Whoever answers on it has got the message that opened it.
  const { pendingPreKey: _confirmed, ...confirmed } = session;
  const next: StoredSession = {
    ...confirmed,
    indexInfo: { ...session.indexInfo, used: now },
    _chains: { ...session._chains, [chainKey]: taken.chain },
  };
  return { plaintext, record: withSession(record, open.key, next) };
}

/**
 * Encrypts on the record's open session; see `decrypt`. A session that the other side has not answered on needs more
 * than this, and is refused.
 *
 * @throws {RatchetRefused}
 */
export function encrypt(record: StoredRecord, content: Uint8Array, ownIdentity: Uint8Array): Encrypted {
  const open = openSession(record);
  if (open === null) throw new RatchetRefused("no_open_session");
  const { session } = open;
  if (session.pendingPreKey !== undefined) throw new RatchetRefused("unconfirmed_session");
  const { ephemeralKeyPair, previousCounter } = session.currentRatchet;
  const sending = session._chains[ephemeralKeyPair.pubKey];
  if (sending === undefined) throw new RatchetRefused("wrong_chain");
  const counter = sending.chainKey.counter + 1;
  const { chain, messageKey } = takeKey(sending, SENDING, counter);
  const [cipherKey, macKey, iv] = secrets(messageKey, NO_SALT, MESSAGE, 3);
  const cipher = createCipheriv("aes-256-cbc", cipherKey!, iv!.subarray(0, 16));
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  const ephemeralKey = Buffer.from(ephemeralKeyPair.pubKey, "base64");
  const body = whisperMessages.encode({ ephemeralKey, counter, previousCounter, ciphertext }).finish();
  const mac = macOf(macKey!, ownIdentity, Buffer.from(session.indexInfo.remoteIdentityKey, "base64"), body);
  const next = { ...session, _chains: { ...session._chains, [ephemeralKeyPair.pubKey]: chain } };
  return {
    ciphertext: Buffer.concat([Uint8Array.of(VERSIONS), body, mac]),
    record: withSession(record, open.key, next),
  };
}

/** The session when a key of the other side has been seen: the same one when it is known. */
function stepped(session: StoredSession, remote: Uint8Array, previousCounter: number): StoredSession {
  const remoteKey = base64(remote);
  if (session._chains[remoteKey] !== undefined) return session;
  const theirs = readPublicKey(remote);
  const { currentRatchet: ratchet } = session;
  const chains = { ...session._chains };
  const last = chains[ratchet.lastRemoteEphemeralKey];
  if (last !== undefined) chains[ratchet.lastRemoteEphemeralKey] = closed(last, previousCounter);

  const [rootKey, receivingKey] = secrets(
    agree(theirs, ratchet.ephemeralKeyPair),
    Buffer.from(ratchet.rootKey, "base64"),
    RATCHET,
    2,
  );
  chains[remoteKey] = freshChain(receivingKey!, RECEIVING);
  const sent = chains[ratchet.ephemeralKeyPair.pubKey];
  delete chains[ratchet.ephemeralKeyPair.pubKey];
  const ephemeralKeyPair = newKeyPair();
  const [nextRootKey, sendingKey] = secrets(agree(theirs, ephemeralKeyPair), rootKey!, RATCHET, 2);
  chains[ephemeralKeyPair.pubKey] = freshChain(sendingKey!, SENDING);
  return {
    ...session,
    currentRatchet: {
      ephemeralKeyPair,
      lastRemoteEphemeralKey: remoteKey,
      previousCounter: sent?.chainKey.counter ?? ratchet.previousCounter,
      rootKey: base64(nextRootKey!),
    },
    _chains: chains,
  };
}

const freshChain = (key: Uint8Array, chainType: number): StoredChain => ({
  chainKey: { counter: -1, key: base64(key) },
  chainType,
  messageKeys: {},
});

/** What is still to come on a chain, up to the last counter that was used on it, is kept; then it ends. */
function closed(chain: StoredChain, lastCounter: number): StoredChain {
  const { chainKey, messageKeys } = filled(chain, lastCounter);
  return { ...chain, chainKey: { counter: chainKey.counter }, messageKeys };
}

function takeKey(
  chain: StoredChain,
  type: number,
  counter: number,
): { chain: StoredChain; messageKey: Buffer } {
  if (chain.chainType !== type) throw new RatchetRefused("wrong_chain");
  const { chainKey, messageKeys } = filled(chain, counter);
  const { [counter]: messageKey, ...others } = messageKeys;
  if (messageKey === undefined) throw new RatchetRefused("key_used");
  return {
    chain: { ...chain, chainKey, messageKeys: others },
    messageKey: Buffer.from(messageKey, "base64"),
  };
}

/** Derives the keys of all messages up to `counter`. */
function filled(chain: StoredChain, counter: number): Pick<StoredChain, "chainKey" | "messageKeys"> {
  const { counter: from, key } = chain.chainKey;
  if (from >= counter) return chain;
  if (counter - from > MOST_SKIPPED) throw new RatchetRefused("counter_jump");
  if (key === undefined) throw new RatchetRefused("chain_closed");
  const messageKeys = { ...chain.messageKeys };
  let last = key;
  for (let at = from + 1; at <= counter; at++) {
    const chainKey = Buffer.from(last, "base64");
    // As text, which is what is stored: bytes of OpenSSL's are an object for the garbage collector each.
    messageKeys[at] = createHmac("sha256", chainKey).update(MESSAGE_KEY).digest("base64");
    last = createHmac("sha256", chainKey).update(CHAIN_KEY).digest("base64");
  }
  return { chainKey: { counter, key: last }, messageKeys };
}

/** RFC 5869 with SHA-256; so many pieces of 32 bytes. One call of Rust instead of three or four objects of OpenSSL's. */
function secrets(input: Uint8Array, salt: Uint8Array, info: string, pieces: 2 | 3): Uint8Array[] {
  const made = baileys.hkdf(input, pieces * KEY_BYTES, { salt, info });
  return Array.from({ length: pieces }, (_, at) => made.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES));
}

function macOf(key: Uint8Array, sender: Uint8Array, receiver: Uint8Array, body: Uint8Array): Buffer {
  const mac = createHmac("sha256", key).update(sender).update(receiver).update(Uint8Array.of(VERSIONS));
  return mac.update(body).digest().subarray(0, MAC_BYTES);
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
