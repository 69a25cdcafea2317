import type { Sharp } from "sharp";
import type { FileFacts } from "../../model/media/media.ts";
import { loadSharp, MAX_PIXELS, MAX_SECONDS, mostPixelsOf } from "./sharp.ts";

/** Longest side; the picture travels in every copy of the message. */
const THUMBNAIL_PIXELS = 72;
const THUMBNAIL_QUALITY = 60;

/** What a chat shows before the file is loaded: a small JPEG, and the size of the original in pixels. */
export type Picture = Pick<FileFacts, "thumbnail" | "width" | "height">;

/**
 * Dimensions as they are shown, and a small JPEG. Nothing where the decoder is not made for this machine.
 *
 * @throws when the image cannot be decoded or has too many pixels
 */
export async function readImage(path: string): Promise<Picture> {
  const sharp = await loadSharp();
  if (sharp === null) return {};
  const open = (limitInputPixels: number): Sharp =>
    sharp(path, { limitInputPixels, sequentialRead: true, failOn: "error" });
  const facts = await open(MAX_PIXELS).metadata();
  const { width, height, orientation = 1 } = facts;
  const thumbnail = await open(mostPixelsOf(facts))
    .timeout({ seconds: MAX_SECONDS })
    .autoOrient()
    .resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, { fit: "inside", withoutEnlargement: true })
    .flatten({ background: "#ffffff" })
    .jpeg({ quality: THUMBNAIL_QUALITY })
    .toBuffer();
  // From 5 on the image lies on its side.
  const shown = orientation >= 5 ? { width: height, height: width } : { width, height };
  return { ...shown, thumbnail: thumbnail.toString("base64") };
}
