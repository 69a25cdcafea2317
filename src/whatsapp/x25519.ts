import { generateKeyPair, generateKeyPairSync } from "node:crypto";
import { promisify } from "node:util";

/** An X25519 pair as a JSON Web Key has it (RFC 8037): 32 bytes each, base64url. */
export interface X25519Pair {
  /** Private. */
  d: string;
  /** Public. */
  x: string;
}

/**
 * Their bytes must be asked for where they are made. In Node 20 `KeyObject.export({ format: "jwk" })` of a key that was generated
 * holds the key's lock while it allocates; when a garbage collection comes in that moment and finds what made the key, that wants
 * the same lock, and the process stands still for ever. It takes a few thousand keys.
 */
// The types know no JWK here; Node does since 15.9.
const AS_JWK = { publicKeyEncoding: { format: "jwk" }, privateKeyEncoding: { format: "jwk" } } as never;

const generate = promisify(generateKeyPair) as unknown as (
  type: "x25519",
  options: never,
) => Promise<{ privateKey: X25519Pair }>;

/** A fresh pair. */
export function newX25519Pair(): X25519Pair {
  return (generateKeyPairSync("x25519", AS_JWK) as unknown as { privateKey: X25519Pair }).privateKey;
}

/** Fresh pairs, made beside the event loop: one takes a tenth of a millisecond. */
export async function newX25519Pairs(count: number): Promise<X25519Pair[]> {
  const made = await Promise.all(Array.from({ length: count }, () => generate("x25519", AS_JWK)));
  return made.map(({ privateKey }) => privateKey);
}
