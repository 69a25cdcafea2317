/** Bytes of an Ogg page before its segment table. */
export const HEADER_BYTES = 27;
/** Where in them the table's length stands. */
export const SEGMENTS_AT = 26;

/** What the first page of an Ogg/Opus file says. */
export interface OpusHead {
  channels: number;
  /** Samples at 48 kHz before the sound begins. */
  preSkip: number;
}

/** @returns null when the bytes do not begin an Ogg/Opus file */
export function readOpusHead(head: Buffer): OpusHead | null {
  if (head.toString("latin1", 0, 4) !== "OggS" || head.length < 47) return null;
  const at = HEADER_BYTES + head[SEGMENTS_AT]!;
  if (head.toString("latin1", at, at + 8) !== "OpusHead" || head.length < at + 12) return null;
  return { channels: head[at + 9]!, preSkip: head.readUInt16LE(at + 10) };
}
