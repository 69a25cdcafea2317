import { readFileSync } from "node:fs";

// https://sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;

type Sum = [number, number];

/**
 * Was the file changed by somebody else than SQLite?
 *
 * A crash leaves at most one transaction that is not whole at the end, because each commit is on the disk before the next
 * one begins. So a frame that does not fit its checksum, with a commit and something further behind it that belong to the
 * same run of the log, cannot come from a crash.
 */
export function isWalDamaged(walFile: string): boolean {
  let wal: Buffer;
  try {
    wal = readFileSync(walFile);
  } catch {
    return false;
  }
  // Cut off while its header was written: nothing was ever committed in it.
  if (wal.length < HEADER_BYTES + FRAME_HEADER_BYTES) return false;
  const magic = wal.readUInt32BE(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return true;
  const little = magic === MAGIC_LITTLE;
  const pageBytes = wal.readUInt32BE(8);
  const header = checksum(wal.subarray(0, 24), [0, 0], little);
  if (!matches(wal, 24, header) || pageBytes < 512) return true;
  return hasBrokenFrame(wal, pageBytes, header, little);
}

function hasBrokenFrame(wal: Buffer, pageBytes: number, start: Sum, little: boolean): boolean {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let sum = start;
  let broken = false;
  let committedBehind = false;
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const sameRun = wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24));
    if (!broken) {
      sum = checksum(wal.subarray(at, at + 8), sum, little);
      sum = checksum(wal.subarray(at + FRAME_HEADER_BYTES, at + frameBytes), sum, little);
      broken = !sameRun || !matches(wal, at + 16, sum);
      // The size after the commit stands in the frame that ends a transaction, else zero.
      if (broken && sameRun) committedBehind = wal.readUInt32BE(at + 4) > 0;
      continue;
    }
    if (!sameRun) continue;
    if (committedBehind) return true;
    committedBehind = wal.readUInt32BE(at + 4) > 0;
  }
  return false;
}

function matches(wal: Buffer, at: number, [first, second]: Sum): boolean {
  return wal.readUInt32BE(at) === first && wal.readUInt32BE(at + 4) === second;
}

function checksum(bytes: Buffer, [first, second]: Sum, little: boolean): Sum {
  let a = first;
  let b = second;
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + b) >>> 0;
    b = (b + (little ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
