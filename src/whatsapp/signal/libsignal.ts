import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { silenceLibsignal } from "./libsignal-console.ts";
import {
  decryptLeavingNoTrace,
  type SessionCipherClass,
  type WhisperMessageType,
} from "./libsignal-decrypt.ts";
import { newX25519Pair } from "../x25519.ts";

/** The parts of `whatsapp-rust-bridge` that stand in for libsignal's slow ones. */
interface RustCurve {
  calculateAgreement(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array;
  calculateSignature(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

interface LibsignalCurve {
  generateKeyPair(): { pubKey: Buffer; privKey: Buffer };
  calculateAgreement(publicKey: Buffer, privateKey: Buffer): Buffer;
}

interface Curve25519 {
  sign(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** A session record as it is stored. */
export type StoredRecord = Record<string, unknown>;

/** What a `SessionCipher` asks for to encrypt. */
export interface LibsignalStorage {
  loadSession(address: string): Promise<LibsignalRecord | null>;
  storeSession(address: string, record: LibsignalRecord): Promise<void>;
  isTrustedIdentity(): boolean;
  getOurRegistrationId(): number;
  getOurIdentity(): { privKey: Buffer; pubKey: Buffer };
}

interface LibsignalRecord {
  serialize(): StoredRecord;
}

/** The parts of libsignal that encrypt. */
interface LibsignalClasses {
  SessionCipher: new (
    storage: LibsignalStorage,
    address: object,
  ) => { encrypt(content: Buffer): Promise<{ type: number; body: Uint8Array }> };
  SessionRecord: { deserialize(record: StoredRecord): LibsignalRecord };
  ProtocolAddress: { from(address: string): object };
}

/** What a message of a session holds, and how libsignal spells it. */
export interface WhisperMessages {
  decode(data: Uint8Array): WhisperMessage;
  encode(message: WhisperMessage): { finish(): Uint8Array };
}

interface WhisperMessage {
  ephemeralKey: Uint8Array;
  /** 0 when it is not named. */
  counter: number;
  previousCounter: number;
  ciphertext: Uint8Array;
}

/** libsignal's own codec, so that both ways read a message alike. */
export const loadWhisperMessages = (): WhisperMessages =>
  (fromBaileys("libsignal/src/protobufs.js") as { WhisperMessage: WhisperMessages }).WhisperMessage;

/** The libsignal that Baileys uses; it is patched in place. */
export const loadLibsignal = (): LibsignalClasses => fromBaileys("libsignal") as LibsignalClasses;

const KEY_TYPE = 5;
const NOTHING_SHARED = Buffer.alloc(32);

// Found from where Baileys stands, so that its own copy is the one that is patched, in a build as well.
const fromBaileys = createRequire(createRequire(import.meta.url).resolve("@whiskeysockets/baileys"));

let patched: Promise<void> | undefined;

/**
 * Repairs the libsignal that Baileys uses. Must have ended before Baileys is imported: it keeps references to some of
 * the functions. What is replaced:
 * - decryption tries every session without harming those that do not fit (`libsignal-decrypt.ts`);
 * - key agreement, signatures and key pairs are made by the Rust code that Baileys ships or by Node, with identical
 *   results: 0.10 instead of 0.61 ms, 0.10 instead of 14.6 ms (verifying 0.16 instead of 17.8 ms), 0.03 instead of 0.17 ms;
 *   a public key with which everybody shares the same secret (of low order) is refused, as libsignal does;
 * - nothing is printed any more: libsignal prints whole sessions, private keys included.
 *
 * @throws when the package layout is not that of the pinned versions
 */
export function patchLibsignal(): Promise<void> {
  patched ??= applyPatches();
  return patched;
}

async function applyPatches(): Promise<void> {
  const { SessionCipher, SessionRecord, SessionError } = fromBaileys("libsignal") as {
    SessionCipher: SessionCipherClass;
    SessionRecord: Parameters<typeof silenceLibsignal>[0];
    SessionError: new (message: string) => Error;
  };
  const { WhisperMessage } = fromBaileys("libsignal/src/protobufs.js") as {
    WhisperMessage: WhisperMessageType;
  };
  silenceLibsignal(SessionRecord);
  SessionCipher.prototype.decryptWithSessions = decryptLeavingNoTrace(WhisperMessage, SessionError);

  const rust = (await import(pathToFileURL(rustBridgePath()).href)) as RustCurve;
  patchCurve(fromBaileys("libsignal/src/curve.js") as LibsignalCurve, rust);
  // Signatures are patched one layer below: libsignal looks these up at every call, so it does not matter who has
  // imported libsignal's own functions already.
  patchSignatures(createRequire(fromBaileys.resolve("libsignal"))("curve25519-js") as Curve25519, rust);
}

// By its path: the package exports nothing to `require`, and importing it by name would load a second copy in a build.
function rustBridgePath(): string {
  const folders = fromBaileys.resolve.paths("whatsapp-rust-bridge") ?? [];
  const path = folders.map((folder) => join(folder, "whatsapp-rust-bridge/dist/index.js")).find(existsSync);
  if (path === undefined)
    throw new Error("whatsapp-rust-bridge is not installed beside Baileys. Run npm ci again.");
  return path;
}

function patchCurve(curve: LibsignalCurve, rust: RustCurve): void {
  curve.calculateAgreement = (publicKey, privateKey) => {
    const secret = Buffer.from(rust.calculateAgreement(withKeyType(publicKey), privateKey));
    // Rust gives zeros for a key of low order, where libsignal's own code refuses: everybody would know that secret.
    if (secret.equals(NOTHING_SHARED)) throw new RangeError("This public key gives no shared secret.");
    return secret;
  };
  curve.generateKeyPair = () => {
    const { d, x } = newX25519Pair();
    return { privKey: Buffer.from(d, "base64url"), pubKey: withKeyType(Buffer.from(x, "base64url")) };
  };
}

function patchSignatures(curve: Curve25519, rust: RustCurve): void {
  curve.sign = (privateKey, message) => rust.calculateSignature(privateKey, message);
  curve.verify = (publicKey, message, signature) => {
    try {
      return rust.verifySignature(withKeyType(publicKey), message, signature);
    } catch {
      // The Rust code throws on what can never verify; libsignal's answer to that is "no".
      return false;
    }
  };
}

function withKeyType(publicKey: Uint8Array): Buffer {
  if (publicKey.length === 33) return Buffer.from(publicKey);
  return Buffer.concat([Buffer.from([KEY_TYPE]), publicKey]);
}
