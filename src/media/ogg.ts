import { OggOpusDecoder } from "ogg-opus-decoder";
import { createReadStream } from "node:fs";
import { createLevels } from "./levels.ts";

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

/** Bytes of a page before its segment table, and where in them the table's length stands. */
const HEADER_BYTES = 27;
const SEGMENTS_AT = 26;
const GRANULE_AT = 6;
const NO_GRANULE = -1n;
const SAMPLES_PER_SECOND = 48_000;
const WINDOW = SAMPLES_PER_SECOND / 50;
/** Decoding costs about a millisecond for each second of sound: of long recordings some pages tell enough. */
const DECODED_PAGES = 600;
const HEADER_PAGES = 2;

/** The file is called Ogg and is not, or ends in the middle. */
export class BrokenOgg extends Error {}

/**
 * Duration and waveform of an Ogg/Opus file, without any other program. Pages are decoded one by one, each in a turn of
 * its own of the event loop.
 *
 * @returns seconds, whole and at least 1
 * @throws {BrokenOgg}
 */
export async function measureOpus(path: string): Promise<{ seconds: number; waveform: Buffer }> {
  const { pages, samples } = await survey(path);
  const step = Math.max(1, Math.ceil(pages / DECODED_PAGES));
  const levels = createLevels(WINDOW);
  const decoder = new OggOpusDecoder();
  try {
    await decoder.ready;
    let number = 0;
    for await (const page of readPages(path)) {
      const wanted = number < HEADER_PAGES || number % step === 0;
      number++;
      if (!wanted) continue;
      // A promise in truth: the decoder is made when the head of the stream was seen.
      const { channelData } = await decoder.decode(page);
      if (channelData[0] !== undefined) levels.add(channelData[0]);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    decoder.free();
  }
  return { seconds: Math.max(1, Math.round(samples / SAMPLES_PER_SECOND)), waveform: levels.waveform() };
}

/** Duration alone, not rounded. @throws {BrokenOgg} also for what is no Ogg/Opus */
export async function opusSeconds(path: string): Promise<number> {
  return (await survey(path)).samples / SAMPLES_PER_SECOND;
}

/** The last page counts the samples of the whole stream. */
async function survey(path: string): Promise<{ pages: number; samples: number }> {
  let pages = 0;
  let granule = 0n;
  let head: OpusHead | null = null;
  for await (const page of readPages(path)) {
    head ??= readOpusHead(page);
    const at = page.readBigInt64LE(GRANULE_AT);
    if (at !== NO_GRANULE) granule = at;
    pages++;
  }
  const samples = Number(granule) - (head?.preSkip ?? 0);
  if (head === null || pages <= HEADER_PAGES || samples <= 0) throw new BrokenOgg("It holds no sound.");
  return { pages, samples };
}

async function* readPages(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let length = pageLength(rest); length !== null && length <= rest.length; length = pageLength(rest)) {
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0) throw new BrokenOgg("It ends in the middle.");
}

/** @returns null when too little of the page is there to know */
function pageLength(bytes: Buffer): number | null {
  if (bytes.length < HEADER_BYTES) return null;
  if (bytes.toString("latin1", 0, 4) !== "OggS") throw new BrokenOgg("Its pages do not follow each other.");
  const segments = bytes[SEGMENTS_AT]!;
  if (bytes.length < HEADER_BYTES + segments) return null;
  const body = bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments).reduce((sum, length) => sum + length, 0);
  return HEADER_BYTES + segments + body;
}
