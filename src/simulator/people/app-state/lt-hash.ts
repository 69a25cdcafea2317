import { derive } from "../../signal/kdf.ts";

const BYTES = 128;
const INFO = "WhatsApp Patch Integrity";

/** The hash of nothing. */
export const EMPTY_HASH: Uint8Array = new Uint8Array(BYTES);

/**
 * A hash over a set of value MACs whose order does not count: each is stretched to 64 numbers of 16 bits, which are added up. Source:
 * whatsmeow `appstate/lthash`.
 */
export function ltHash(
  before: Uint8Array,
  { added, removed }: { added: readonly Uint8Array[]; removed: readonly Uint8Array[] },
): Uint8Array {
  const hash = Buffer.from(before);
  for (const mac of removed) combine(hash, mac, -1);
  for (const mac of added) combine(hash, mac, 1);
  return hash;
}

function combine(hash: Buffer, mac: Uint8Array, sign: 1 | -1): void {
  const stretched = Buffer.from(derive(mac, INFO, BYTES));
  for (let at = 0; at < BYTES; at += 2)
    hash.writeUInt16LE((hash.readUInt16LE(at) + sign * stretched.readUInt16LE(at)) & 0xffff, at);
}
