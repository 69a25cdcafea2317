/** The arithmetic of linking with a passkey; nothing here talks to anybody. Source: `docs/passkey/README.md`. */
import {
  createCipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  createPrivateKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { baileys } from "../baileys.ts";
import { newX25519Pair } from "../x25519.ts";

const HANDOFF_INFO = "shortcake-passkey-handoff-v1";
const REQUEST_INFO = "Pairing Information Encryption Key";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const CODE_BYTES = 5;
/** SubjectPublicKeyInfo of an X25519 key, up to its 32 bytes. */
const X25519_SPKI = Buffer.from("302a300506032b656e032100", "hex");

/** What the companion commits itself to, and keeps until the phone has answered. */
export interface Prologue {
  /** `ProloguePayload`, as it is sent. */
  payload: Uint8Array;
  privateKey: KeyObject;
  nonce: Uint8Array;
  ref: string;
  deviceType: number;
}

/** What both sides know once the phone has answered. */
export interface Agreement {
  /** 32 bytes; seals the request for linking. */
  key: Uint8Array;
  /** What the phone shows as well, `XXXX-XXXX`. */
  code: string;
}

/** The key by which a companion shows that its QR is the one that was scanned. @param advSecretKey base64, as the QR has it */
export function handoffKey(advSecretKey: string): Uint8Array {
  const secret = Buffer.from(advSecretKey, "base64");
  return new Uint8Array(hkdfSync("sha256", secret, Buffer.alloc(KEY_BYTES), HANDOFF_INFO, KEY_BYTES));
}

/** @param payload of the prologue */
export const handoffProof = (key: Uint8Array, payload: Uint8Array): Uint8Array =>
  createHmac("sha256", key).update(payload).digest();

/** Makes the ephemeral identity of one attempt. @param ref as WhatsApp gave it @param deviceType `DeviceProps.PlatformType` */
export function makePrologue(ref: string, deviceType: number): Prologue {
  const { d, x } = newX25519Pair();
  const privateKey = createPrivateKey({ key: { kty: "OKP", crv: "X25519", d, x }, format: "jwk" });
  const nonce = randomBytes(KEY_BYTES);
  const { CompanionEphemeralIdentity, ProloguePayload } = baileys.proto;
  const companionEphemeralIdentity = CompanionEphemeralIdentity.encode({
    publicKey: Buffer.from(x, "base64url"),
    deviceType,
    ref,
  }).finish();
  const commitment = { hash: sha256(companionEphemeralIdentity, nonce) };
  const payload = ProloguePayload.encode({ companionEphemeralIdentity, commitment }).finish();
  return { payload, privateKey, nonce, ref, deviceType };
}

/**
 * What follows from the phone's answer.
 *
 * @param bytes `PrimaryEphemeralIdentity`
 * @throws when it is malformed
 */
export function agree({ privateKey, nonce, ref, deviceType }: Prologue, bytes: Uint8Array): Agreement {
  const { publicKey, nonce: theirNonce } = baileys.proto.PrimaryEphemeralIdentity.decode(bytes);
  if (publicKey?.length !== KEY_BYTES || theirNonce?.length !== KEY_BYTES)
    throw new Error("the phone's ephemeral identity is malformed");
  const shared = diffieHellman({ privateKey, publicKey: keyOf(publicKey) });
  const salt = `Companion Pairing ${deviceType} with ref ${ref}`;
  const key = new Uint8Array(hkdfSync("sha256", shared, salt, REQUEST_INFO, KEY_BYTES));
  const mask = sha256(nonce, publicKey);
  const code = Buffer.from(theirNonce.subarray(0, CODE_BYTES).map((byte, index) => byte ^ mask[index]!));
  const letters = baileys.bytesToCrockford(code);
  return { key, code: `${letters.slice(0, 4)}-${letters.slice(4)}` };
}

/** `EncryptedPairingRequest`. @param keys 32 bytes each */
export function sealPairingRequest(
  { key }: Agreement,
  keys: { noise: Uint8Array; identity: Uint8Array; advSecret: Uint8Array },
): Uint8Array {
  const { PairingRequest, EncryptedPairingRequest } = baileys.proto;
  const request = PairingRequest.encode({
    companionPublicKey: keys.noise,
    companionIdentityKey: keys.identity,
    advSecret: keys.advSecret,
  }).finish();
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const encryptedPayload = Buffer.concat([cipher.update(request), cipher.final(), cipher.getAuthTag()]);
  return EncryptedPairingRequest.encode({ encryptedPayload, iv }).finish();
}

const keyOf = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([X25519_SPKI, raw]), format: "der", type: "spki" });

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
