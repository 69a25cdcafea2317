/**
 * The one key that grows with the number's contacts and chats: what Baileys knows of app state, an entry of some 130 bytes for
 * each. A libSQL server takes values of 4 MiB, so a long one lies in several rows.
 */
const GROWS = "app-state-sync-version";
/** Bytes of each part. */
const PART_BYTES = 1_048_576;
/** What stands in the place of a value that lies in parts; no JSON begins with a zero. */
const MARK = Buffer.from("\0in parts\0");

/** A key as it is stored. */
export interface StoredKey {
  type: string;
  id: string;
  value: string | Uint8Array;
}

/** Type and first and last id of the parts that a key may have, for a range; null: it never has any. */
export const partsOf = (type: string, id: string): { type: string; from: string; to: string } | null =>
  type === GROWS ? { type: `${type}/part`, from: `${id}/`, to: `${id}0` } : null;

/** The rows of one key: itself, or what says how many parts there are, and these. */
export function toRows(type: string, id: string, value: string | Uint8Array): StoredKey[] {
  if (type !== GROWS || value.length <= PART_BYTES) return [{ type, id, value }];
  const bytes = Buffer.from(value as string);
  const count = Math.ceil(bytes.length / PART_BYTES);
  const head = Buffer.alloc(MARK.length + 4);
  MARK.copy(head);
  head.writeUInt32BE(count, MARK.length);
  const parts = Array.from({ length: count }, (_, index) => ({
    ...partNamed(type, id, index),
    value: bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  }));
  return [{ type, id, value: head }, ...parts];
}

/** How many parts a stored value has; 0 when it is whole. */
export function countParts(value: Buffer): number {
  const isHead = value.length === MARK.length + 4 && value.subarray(0, MARK.length).equals(MARK);
  return isHead ? value.readUInt32BE(MARK.length) : 0;
}

/** Where a part lies, from 0. */
export const partNamed = (type: string, id: string, index: number): Omit<StoredKey, "value"> => ({
  type: `${type}/part`,
  id: `${id}/${index}`,
});
