import { calculateAgreement, calculateSignature, verifySignature } from "whatsapp-rust-bridge";

/** A Curve25519 pair; both halves are 32 bytes, the public one without the type byte that the wire puts before it. */
export interface KeyPair {
  public: Uint8Array;
  private: Uint8Array;
}

/** The type byte in front of every public key on the wire: Curve25519. */
const KEY_TYPE = 5;

const BASE_POINT = withKeyType(Uint8Array.of(9, ...new Uint8Array(31)));

/** Prefixes a 32-byte public key with its type byte. */
export function withKeyType(key: Uint8Array): Uint8Array {
  const typed = new Uint8Array(33);
  typed[0] = KEY_TYPE;
  typed.set(key, 1);
  return typed;
}

/**
 * Removes the type byte from a public key that came over the wire.
 *
 * @throws {RangeError} when it is not 33 bytes of type 5
 */
export function withoutKeyType(typed: Uint8Array): Uint8Array {
  if (typed.length !== 33 || typed[0] !== KEY_TYPE) {
    throw new RangeError(`A public key has 33 bytes and starts with 5, not ${typed.length} bytes.`);
  }
  return typed.slice(1);
}

/** Makes a pair from 32 random bytes. */
export function keyPairFrom(random: Uint8Array): KeyPair {
  const secret = new Uint8Array(random);
  // Clamped here, because the signature code takes the scalar as it is.
  secret[0]! &= 248;
  secret[31] = (secret[31]! & 127) | 64;
  return { private: secret, public: new Uint8Array(calculateAgreement(BASE_POINT, secret)) };
}

/** X25519. */
export function agree(theirs: Uint8Array, ours: KeyPair): Uint8Array {
  return calculateAgreement(withKeyType(theirs), ours.private);
}

/** XEdDSA signature, 64 bytes. The nonce is the library's own, so the bytes differ from run to run. */
export function sign(ours: KeyPair, message: Uint8Array): Uint8Array {
  return calculateSignature(ours.private, message);
}

/** Checks an XEdDSA signature; also false for keys and signatures of the wrong length. */
export function verify(theirs: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (theirs.length !== 32 || signature.length !== 64) return false;
  try {
    return verifySignature(withKeyType(theirs), message, signature);
  } catch {
    return false;
  }
}
