import { generateKeyPairSync } from "node:crypto";

/** An X25519 pair as a JSON Web Key has it (RFC 8037): 32 bytes each, base64url. */
export interface X25519Pair {
  /** Private. */
  d: string;
  /** Public. */
  x: string;
}

/**
 * A fresh pair.
 *
 * Its bytes must be asked for where it is made. In Node 20 `KeyObject.export({ format: "jwk" })` of a key that was generated holds the
 * key's lock while it allocates; when a garbage collection comes in that moment and finds what made the key, that wants the same
 * lock, and the process stands still for ever. It takes a few thousand keys.
 */
export function newX25519Pair(): X25519Pair {
  // The types know no JWK here; Node does since 15.9.
  const options = { publicKeyEncoding: { format: "jwk" }, privateKeyEncoding: { format: "jwk" } } as never;
  return (generateKeyPairSync("x25519", options) as unknown as { privateKey: X25519Pair }).privateKey;
}
