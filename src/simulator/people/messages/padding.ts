import type { Random } from "../../random.ts";

/** Appends 1 to 16 bytes that each hold their number, so that lengths tell little. */
export function pad(plaintext: Uint8Array, random: Random): Uint8Array {
  const count = 1 + random.integer(16);
  return Buffer.concat([plaintext, new Uint8Array(count).fill(count)]);
}

/** Takes the padding off; undefined when it is not as {@link pad} makes it. */
export function unpad(padded: Uint8Array): Uint8Array | undefined {
  const count = padded.at(-1) ?? 0;
  if (count < 1 || count > 16 || count > padded.length) return undefined;
  const isWhole = padded.subarray(-count).every((byte) => byte === count);
  return isWhole ? padded.subarray(0, -count) : undefined;
}
