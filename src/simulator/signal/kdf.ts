import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { SignalError } from "./error.ts";

const NO_SALT = new Uint8Array(32);

/** HKDF-SHA-256 of `length` bytes; Signal uses a salt of 32 zero bytes where it has none. */
export function derive(
  input: Uint8Array,
  info: string,
  length: number,
  salt: Uint8Array = NO_SALT,
): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", input, salt, info, length));
}

/** HMAC-SHA-256. */
export function hmac(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return new Uint8Array(mac.digest());
}

/** Compares two byte strings in constant time; false for different lengths. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** AES-256-CBC with PKCS#7 padding. */
export function encryptCbc(key: Uint8Array, iv: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  return Buffer.concat([cipher.update(plaintext), cipher.final()]);
}

/**
 * The inverse of {@link encryptCbc}.
 *
 * @throws {SignalError} `malformed` on a wrong length or padding
 */
export function decryptCbc(key: Uint8Array, iv: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const decipher = createDecipheriv("aes-256-cbc", key, iv);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw new SignalError("malformed", "The ciphertext is not a padded AES-CBC text.");
  }
}
