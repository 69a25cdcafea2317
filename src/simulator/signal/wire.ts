/**
 * Signal's message formats as WhatsApp uses them: a version byte (3 in both halves), a protobuf, and behind it a MAC of
 * eight bytes (sessions) or a signature of 64 (sender keys).
 */
import { withKeyType, withoutKeyType } from "./curve.ts";
import { SignalError } from "./error.ts";
import { equal, hmac } from "./kdf.ts";
import { bytesField, numberField, readFields, writeFields } from "./protobuf.ts";

const VERSION_BYTE = 0x33;
const MAC_BYTES = 8;
const SIGNATURE_BYTES = 64;

/** A ratchet message (`msg`), still encrypted. */
export interface WhisperMessage {
  ratchetKey: Uint8Array;
  counter: number;
  previousCounter: number;
  ciphertext: Uint8Array;
  /** Checks the MAC; both identities are part of what it covers. */
  hasMac(key: Uint8Array, sender: Uint8Array, receiver: Uint8Array): boolean;
}

/** A message that carries what is needed to start a session (`pkmsg`). */
export interface PreKeyMessage {
  registrationId: number;
  preKeyId?: number;
  signedPreKeyId: number;
  baseKey: Uint8Array;
  identity: Uint8Array;
  message: Uint8Array;
}

/** Encodes and authenticates a ratchet message. */
export function writeWhisperMessage(
  message: Omit<WhisperMessage, "hasMac">,
  macKey: Uint8Array,
  sender: Uint8Array,
  receiver: Uint8Array,
): Uint8Array {
  const body = versioned([
    [1, withKeyType(message.ratchetKey)],
    [2, message.counter],
    [3, message.previousCounter],
    [4, message.ciphertext],
  ]);
  return Buffer.concat([body, macOf(body, macKey, sender, receiver)]);
}

/** @throws {SignalError} `malformed` */
export function readWhisperMessage(bytes: Uint8Array): WhisperMessage {
  const body = bytes.subarray(0, -MAC_BYTES);
  const fields = readFields(unversioned(body));
  return {
    ratchetKey: publicKey(bytesField(fields, 1)),
    counter: numberField(fields, 2),
    previousCounter: fields.has(3) ? numberField(fields, 3) : 0,
    ciphertext: bytesField(fields, 4),
    hasMac: (key, sender, receiver) => equal(bytes.subarray(-MAC_BYTES), macOf(body, key, sender, receiver)),
  };
}

/** Encodes a session-starting message around an encoded ratchet message. */
export function writePreKeyMessage(message: PreKeyMessage): Uint8Array {
  return versioned([
    [1, message.preKeyId],
    [2, withKeyType(message.baseKey)],
    [3, withKeyType(message.identity)],
    [4, message.message],
    [5, message.registrationId],
    [6, message.signedPreKeyId],
  ]);
}

/** @throws {SignalError} `malformed` */
export function readPreKeyMessage(bytes: Uint8Array): PreKeyMessage {
  const fields = readFields(unversioned(bytes));
  return {
    preKeyId: fields.has(1) ? numberField(fields, 1) : undefined,
    baseKey: publicKey(bytesField(fields, 2)),
    identity: publicKey(bytesField(fields, 3)),
    message: bytesField(fields, 4),
    registrationId: numberField(fields, 5),
    signedPreKeyId: numberField(fields, 6),
  };
}

/** A group message (`skmsg`), still encrypted. `signed` is what `signature` covers. */
interface SenderKeyMessage {
  keyId: number;
  iteration: number;
  ciphertext: Uint8Array;
  signed: Uint8Array;
  signature: Uint8Array;
}

/** Encodes a group message; `sign` gets the bytes to sign. */
export function writeSenderKeyMessage(
  message: Pick<SenderKeyMessage, "keyId" | "iteration" | "ciphertext">,
  sign: (signed: Uint8Array) => Uint8Array,
): Uint8Array {
  const signed = versioned([
    [1, message.keyId],
    [2, message.iteration],
    [3, message.ciphertext],
  ]);
  return Buffer.concat([signed, sign(signed)]);
}

/** @throws {SignalError} `malformed` */
export function readSenderKeyMessage(bytes: Uint8Array): SenderKeyMessage {
  const signed = bytes.subarray(0, -SIGNATURE_BYTES);
  const fields = readFields(unversioned(signed));
  return {
    keyId: numberField(fields, 1),
    iteration: numberField(fields, 2),
    ciphertext: bytesField(fields, 3),
    signed,
    signature: bytes.subarray(-SIGNATURE_BYTES),
  };
}

/** A sender key as it is given to the other devices of a group. */
interface SenderKeyDistribution {
  keyId: number;
  iteration: number;
  chainKey: Uint8Array;
  signingKey: Uint8Array;
}

/** Encodes a sender key for distribution. */
export function writeDistribution(key: SenderKeyDistribution): Uint8Array {
  return versioned([
    [1, key.keyId],
    [2, key.iteration],
    [3, key.chainKey],
    [4, withKeyType(key.signingKey)],
  ]);
}

/** @throws {SignalError} `malformed` */
export function readDistribution(bytes: Uint8Array): SenderKeyDistribution {
  const fields = readFields(unversioned(bytes));
  return {
    keyId: numberField(fields, 1),
    iteration: numberField(fields, 2),
    chainKey: new Uint8Array(bytesField(fields, 3)),
    signingKey: publicKey(bytesField(fields, 4)),
  };
}

function versioned(fields: [number, number | Uint8Array | undefined][]): Uint8Array {
  return Buffer.concat([Uint8Array.of(VERSION_BYTE), writeFields(fields)]);
}

function unversioned(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 2 || bytes[0] !== VERSION_BYTE) {
    throw new SignalError("malformed", `A Signal message starts with 0x33, not with ${bytes[0]}.`);
  }
  return bytes.subarray(1);
}

function publicKey(typed: Uint8Array): Uint8Array {
  try {
    return withoutKeyType(typed);
  } catch (error) {
    throw new SignalError("malformed", (error as Error).message);
  }
}

function macOf(body: Uint8Array, key: Uint8Array, sender: Uint8Array, receiver: Uint8Array): Uint8Array {
  return hmac(key, withKeyType(sender), withKeyType(receiver), body).subarray(0, MAC_BYTES);
}
