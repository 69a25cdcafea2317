import { OggOpusDecoder } from "ogg-opus-decoder";
import { createReadStream } from "node:fs";
import { createLevels } from "../levels.ts";
import { HEADER_BYTES, readOpusHead, SEGMENTS_AT, type OpusHead } from "./opus-head.ts";

const FLAGS_AT = 5;
const GRANULE_AT = 6;
const SEQUENCE_AT = 18;
const NO_GRANULE = -1n;
const SAMPLES_PER_SECOND = 48_000;
const WINDOW = SAMPLES_PER_SECOND / 50;
/** Decoding costs about a millisecond for each second of sound: of long recordings some pages tell enough. */
const DECODED_PAGES = 600;
/** No granule before it is above this. */
const HEADER_GRANULE = 0n;

/** A comment header without comments. */
const NO_TAGS = Buffer.concat([Buffer.from("OpusTags"), Buffer.alloc(8)]);

/**
 * Duration and waveform of an Ogg/Opus file, without any other program. Of its comments, which may hold pictures and be of
 * any length, nothing is read.
 *
 * @returns seconds, whole and at least 1
 * @throws Error for what is broken
 */
export async function measureOpus(path: string): Promise<{ seconds: number; waveform: Buffer }> {
  const { headPages, pages, samples } = await survey(path);
  const step = Math.max(1, Math.ceil((pages - headPages) / DECODED_PAGES));
  const levels = createLevels(WINDOW);
  const decoder = new OggOpusDecoder();
  try {
    await decoder.ready;
    let number = 0;
    for await (const page of readPages(path)) {
      const wanted = number === 0 || (number >= headPages && (number - headPages) % step === 0);
      // A promise in truth: the decoder is made when the head of the stream was seen.
      const { channelData } = wanted ? await decoder.decode(page) : { channelData: [] };
      if (number === 0) await decoder.decode(withoutTags(page));
      if (channelData[0] !== undefined) levels.add(channelData[0]);
      number++;
    }
  } finally {
    decoder.free();
  }
  return { seconds: Math.max(1, Math.round(samples / SAMPLES_PER_SECOND)), waveform: levels.waveform() };
}

/** The page that follows the first one, for a decoder that waits for it. */
function withoutTags(first: Buffer): Buffer {
  const page = Buffer.alloc(HEADER_BYTES + 1 + NO_TAGS.length);
  first.copy(page, 0, 0, HEADER_BYTES);
  page[FLAGS_AT] = 0;
  page.writeUInt32LE(1, SEQUENCE_AT);
  page[SEGMENTS_AT] = 1;
  page[HEADER_BYTES] = NO_TAGS.length;
  NO_TAGS.copy(page, HEADER_BYTES + 1);
  return page;
}

/** Duration alone, not rounded. @throws Error also for what is no Ogg/Opus */
export async function opusSeconds(path: string): Promise<number> {
  return (await survey(path)).samples / SAMPLES_PER_SECOND;
}

/** The last page counts the samples of the whole stream. */
async function survey(path: string): Promise<{ headPages: number; pages: number; samples: number }> {
  let pages = 0;
  let headPages = 0;
  let granule = 0n;
  let head: OpusHead | null = null;
  for await (const page of readPages(path)) {
    head ??= readOpusHead(page);
    const at = page.readBigInt64LE(GRANULE_AT);
    if (at !== NO_GRANULE) granule = at;
    pages++;
    // Pages in which nothing sounds yet: the head, and comments over as many as they take.
    if (granule <= HEADER_GRANULE) headPages = pages;
  }
  const samples = Number(granule) - (head?.preSkip ?? 0);
  if (head === null || samples <= 0) throw new Error("It contains no sound.");
  return { headPages, pages, samples };
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
  if (rest.length > 0) throw new Error("It is cut off.");
}

/** @returns null when too little of the page is there to know */
function pageLength(bytes: Buffer): number | null {
  if (bytes.length < HEADER_BYTES) return null;
  if (bytes.toString("latin1", 0, 4) !== "OggS") throw new Error("Its pages are out of order.");
  const segments = bytes[SEGMENTS_AT]!;
  if (bytes.length < HEADER_BYTES + segments) return null;
  const body = bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments).reduce((sum, length) => sum + length, 0);
  return HEADER_BYTES + segments + body;
}
