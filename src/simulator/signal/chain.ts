import { SignalError } from "./error.ts";
import { derive, hmac } from "./kdf.ts";

/** How far ahead of the last received message one may be, and how many skipped keys are kept per chain. */
const MAX_SKIPPED = 2000;

const MESSAGE_KEY_SEED = Uint8Array.of(1);
const CHAIN_KEY_SEED = Uint8Array.of(2);

/** A symmetric chain: sessions and sender keys step it in the same way. Values are never changed in place. */
export interface Chain {
  key: Uint8Array;
  /** Number of the next message on this chain. */
  next: number;
  /** Seeds of messages that were skipped over, by number. */
  skipped: ReadonlyMap<number, Uint8Array>;
}

const NONE: ReadonlyMap<number, Uint8Array> = new Map();

/** A chain that has not been used yet, or (sender keys) is taken over at `next`. */
export function startChain(key: Uint8Array, next = 0): Chain {
  return { key, next, skipped: NONE };
}

/** The seed for the next message, and the chain after it. */
export function stepChain(chain: Chain): { seed: Uint8Array; number: number; chain: Chain } {
  return {
    seed: hmac(chain.key, MESSAGE_KEY_SEED),
    number: chain.next,
    chain: { key: hmac(chain.key, CHAIN_KEY_SEED), next: chain.next + 1, skipped: chain.skipped },
  };
}

/**
 * The seed of message `number`, and the chain after it was taken.
 *
 * @throws {SignalError} `duplicate` when that seed was used, `too_far_ahead` beyond 2,000 skipped messages
 */
export function seedAt(chain: Chain, number: number): { seed: Uint8Array; chain: Chain } {
  if (number < chain.next) {
    const seed = chain.skipped.get(number);
    if (!seed) throw new SignalError("duplicate", `The key of message ${number} was used before.`);
    const skipped = new Map(chain.skipped);
    skipped.delete(number);
    return { seed, chain: { ...chain, skipped } };
  }
  if (number - chain.next > MAX_SKIPPED) {
    throw new SignalError("too_far_ahead", `Message ${number} is too far ahead of ${chain.next}.`);
  }
  let stepped = stepChain(chain);
  if (stepped.number === number) return stepped;
  const skipped = new Map(chain.skipped);
  while (stepped.number < number) {
    skipped.set(stepped.number, stepped.seed);
    stepped = stepChain(stepped.chain);
  }
  for (const oldest of skipped.keys()) {
    if (skipped.size <= MAX_SKIPPED) break;
    skipped.delete(oldest);
  }
  return { seed: stepped.seed, chain: { ...stepped.chain, skipped } };
}

/** Cipher key, MAC key and IV of a session message. */
export function sessionKeys(seed: Uint8Array): { cipher: Uint8Array; mac: Uint8Array; iv: Uint8Array } {
  const keys = derive(seed, "WhisperMessageKeys", 80);
  return { cipher: keys.subarray(0, 32), mac: keys.subarray(32, 64), iv: keys.subarray(64, 80) };
}

/** Cipher key and IV of a sender-key message. */
export function groupKeys(seed: Uint8Array): { cipher: Uint8Array; iv: Uint8Array } {
  const keys = derive(seed, "WhisperGroup", 48);
  return { iv: keys.subarray(0, 16), cipher: keys.subarray(16, 48) };
}
