import { rename, writeFile } from "node:fs/promises";
import type { Metadata, Sharp, WebpOptions } from "sharp";
import type { FileFacts } from "../../model/media/media.ts";
import { loadSharp, MAX_PIXELS, MAX_PIXELS_AT_ONCE, MAX_SECONDS, mostPixelsOf } from "./sharp.ts";

/** What a message says of a sticker beside its file. */
export type Sticker = Pick<FileFacts, "width" | "height" | "animated">;

/** What phones take as a sticker, by WhatsApp's rules for authors of stickers. */
const PIXELS = 512;
const MAX_BYTES = 100_000;
const MAX_ANIMATED_BYTES = 500_000;
const MAX_MS = 10_000;
/** Each takes a fiftieth of a second for each quality that is tried, and all of it has five. */
const MAX_FRAMES = 150;
const EFFORT = 2;
const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };

/**
 * Makes a sticker of an image: the whole of it, with nothing around it where it is no square. What is a sticker already is
 * taken as it is; what moves goes on moving.
 *
 * @param output where the sticker is to be; the image may be moved there
 * @returns null where the decoder is not made for this machine
 * @throws when the image cannot be decoded, has too many pixels, or moves for too long
 */
export async function makeSticker(path: string, output: string): Promise<Sticker | null> {
  const sharp = await loadSharp();
  if (sharp === null) return null;
  const open = (limitInputPixels: number, animated = false): Sharp =>
    sharp(path, { limitInputPixels, sequentialRead: true, failOn: "error", animated }).timeout({
      seconds: MAX_SECONDS,
    });
  const facts = await open(MAX_PIXELS).metadata();
  const moves = (facts.pages ?? 1) > 1;
  const animated = moves && { animated: true as const };
  if (facts.format === "webp" && facts.width === PIXELS && facts.height === PIXELS) {
    // A phone that cannot read it shows an empty place.
    await open(MAX_PIXELS_AT_ONCE).resize(1, 1).raw().toBuffer();
    await rename(path, output);
  } else if (moves) {
    requireShort(facts);
    await write(output, facts, MAX_ANIMATED_BYTES, () => open(MAX_PIXELS, true));
  } else await write(output, facts, MAX_BYTES, () => open(mostPixelsOf(facts)).autoOrient());
  return { width: PIXELS, height: PIXELS, ...animated };
}

function requireShort({ pages = 1, delay = [], width, height }: Metadata): void {
  if (delay.reduce((sum, ms) => sum + ms, 0) > MAX_MS)
    throw new Error(`It moves for longer than ${MAX_MS / 1000} s.`);
  if (pages > MAX_FRAMES) throw new Error(`It has more than ${MAX_FRAMES} pictures.`);
  if (width * height > MAX_PIXELS_AT_ONCE) throw new Error("It has too many pixels.");
}

/** The next one is tried when a sticker is too large with the one before. */
function qualitiesOf({ pages = 1 }: Metadata): number[] {
  if (pages <= 40) return [75, 40, 10];
  return pages <= 80 ? [40, 10] : [10];
}

/** @throws when even the smallest is too large */
async function write(output: string, facts: Metadata, mostBytes: number, image: () => Sharp): Promise<void> {
  for (const quality of qualitiesOf(facts)) {
    const options: WebpOptions = { quality, alphaQuality: quality, effort: EFFORT };
    const sticker = await image()
      .resize(PIXELS, PIXELS, { fit: "contain", background: CLEAR })
      .webp(options)
      .toBuffer();
    if (sticker.length <= mostBytes) return writeFile(output, sticker, { mode: 0o600 });
  }
  throw new Error(`It is larger than ${mostBytes / 1000} kB as a sticker.`);
}
