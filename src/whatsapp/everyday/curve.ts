import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import { newX25519Pair } from "../x25519.ts";

/** An X25519 pair as session records hold it, base64: the public key with its type byte in front. */
export interface StoredKeyPair {
  pubKey: string;
  privKey: string;
}

/** libsignal's type byte of Curve25519. */
const KEY_TYPE = 5;
/** Public keys of the wire: type byte and 32 bytes. */
const PUBLIC_BYTES = 33;
const PRIVATE_BYTES = 32;

/**
 * Own private keys of ratchets, as OpenSSL holds them: reading one costs as much as using it, and each is used when the contact's next
 * message comes. One is there for as long as its pair is: with the record that holds it, and no longer, whoever replaces that record.
 */
const kept = new WeakMap<StoredKeyPair, KeyObject>();

/** A fresh pair. */
export function newKeyPair(): StoredKeyPair {
  const { d, x } = newX25519Pair();
  const publicKey = Buffer.concat([Uint8Array.of(KEY_TYPE), Buffer.from(x, "base64url")]);
  return {
    pubKey: publicKey.toString("base64"),
    privKey: Buffer.from(d, "base64url").toString("base64"),
  };
}

/**
 * Reads a public key of the wire.
 *
 * @throws RangeError when it is none
 */
export function readPublicKey(bytes: Uint8Array): KeyObject {
  if (bytes.length !== PUBLIC_BYTES || bytes[0] !== KEY_TYPE)
    throw new RangeError("This is not a Curve25519 key.");
  const x = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
}

/**
 * The secret that both sides share, 32 bytes; the same that libsignal's own curve gives.
 *
 * @throws when the other side's key is one that shares nothing (of low order)
 */
export function agree(theirs: KeyObject, own: StoredKeyPair): Buffer {
  let privateKey = kept.get(own);
  if (privateKey === undefined) {
    privateKey = readPrivateKey(own);
    kept.set(own, privateKey);
  }
  return diffieHellman({ privateKey, publicKey: theirs });
}

function readPrivateKey({ pubKey, privKey }: StoredKeyPair): KeyObject {
  const d = Buffer.from(privKey, "base64");
  if (d.length !== PRIVATE_BYTES) throw new RangeError("This is not a private key.");
  const x = Buffer.from(pubKey, "base64").subarray(1).toString("base64url");
  const key = { kty: "OKP", crv: "X25519", d: d.toString("base64url"), x };
  return createPrivateKey({ key, format: "jwk" });
}
