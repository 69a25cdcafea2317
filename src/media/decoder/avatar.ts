import type { Sharp } from "sharp";
import { loadSharp, MAX_PIXELS, MAX_SECONDS, mostPixelsOf } from "./sharp.ts";

/** Phones show a square; WhatsApp takes none that is larger, and none that is much smaller. */
const MOST_PIXELS = 640;
const LEAST_PIXELS = 192;
const QUALITY = 75;

/**
 * The middle of an image, as a square JPEG.
 *
 * @returns null where the decoder is not made for this machine
 * @throws when the image cannot be decoded or has too many pixels
 */
export async function makeAvatar(path: string): Promise<Uint8Array | null> {
  const sharp = await loadSharp();
  if (sharp === null) return null;
  const open = (limitInputPixels: number): Sharp =>
    sharp(path, { limitInputPixels, sequentialRead: true, failOn: "error" });
  const facts = await open(MAX_PIXELS).metadata();
  const side = Math.max(LEAST_PIXELS, Math.min(MOST_PIXELS, facts.width, facts.height));
  return open(mostPixelsOf(facts))
    .timeout({ seconds: MAX_SECONDS })
    .autoOrient()
    .resize(side, side, { fit: "cover" })
    .flatten({ background: "#ffffff" })
    .jpeg({ quality: QUALITY })
    .toBuffer();
}
