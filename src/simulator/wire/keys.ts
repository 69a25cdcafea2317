import { calculateAgreement, calculateSignature, verifySignature } from "whatsapp-rust-bridge";

/** An X25519 key pair; both halves are 32 bytes, without the 0x05 type byte. */
export interface KeyPair {
  publicKey: Buffer;
  privateKey: Buffer;
}

/** Public keys carry this type byte inside signatures, as in the Signal protocol. */
const KEY_TYPE = Buffer.from([5]);

/** The curve's base point. The bridge's own `getPublicFromPrivateKey` gives another key, so multiply it here. */
const BASE_POINT = Buffer.concat([KEY_TYPE, Buffer.from([9]), Buffer.alloc(31)]);

const withType = (publicKey: Uint8Array): Buffer =>
  publicKey.length === 33 ? Buffer.from(publicKey) : Buffer.concat([KEY_TYPE, publicKey]);

/** Makes a key pair of 32 random bytes (clamped as X25519 asks). */
export function keyPairFrom(secret: Uint8Array): KeyPair {
  const privateKey = Buffer.from(secret);
  privateKey[0] = privateKey[0]! & 248;
  privateKey[31] = (privateKey[31]! & 127) | 64;
  return { privateKey, publicKey: Buffer.from(calculateAgreement(BASE_POINT, privateKey)) };
}

/** X25519: 32 bytes of shared secret. */
export function agree(privateKey: Uint8Array, publicKey: Uint8Array): Buffer {
  return Buffer.from(calculateAgreement(withType(publicKey), privateKey));
}

/** XEdDSA signature, 64 bytes. */
export function sign(privateKey: Uint8Array, message: Uint8Array): Buffer {
  return Buffer.from(calculateSignature(privateKey, message));
}

/** True when `signature` was made over `message` with the private half of `publicKey`; false for any malformed input. */
export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return signature.length === 64 && verifySignature(withType(publicKey), message, signature);
  } catch {
    return false;
  }
}

/** A public key as it is signed in a signed pre-key: with its type byte. */
export function typedPublicKey(publicKey: Uint8Array): Buffer {
  return withType(publicKey);
}
