import type { Metadata, Sharp } from "sharp";
import type { FileFacts } from "../../model/media/media.ts";

/** Of images that are unpacked line by line. Few phones take a larger one. */
const MAX_PIXELS = 100_000_000;
/** Of those that are unpacked whole: each pixel takes four bytes or more. */
const MAX_PIXELS_AT_ONCE = 17_000_000;
/** Longest side; the picture travels in every copy of the message. */
const THUMBNAIL_PIXELS = 72;
const THUMBNAIL_QUALITY = 60;
const MAX_SECONDS = 5;

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
  const thumbnail = await open(isUnpackedWhole(facts) ? MAX_PIXELS_AT_ONCE : MAX_PIXELS)
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

/** WebP and GIF always are, PNG when it shows itself at first coarsely. What JPEG takes depends on more: see the process's limit. */
const isUnpackedWhole = ({ format, isProgressive }: Metadata): boolean =>
  format !== "jpeg" && (isProgressive || format !== "png");

/** Loaded with the first picture: what reads other files only does without its memory. */
async function loadSharp(): Promise<(typeof import("sharp"))["default"] | null> {
  const sharp = await import("sharp").then(
    (module) => module.default,
    () => null,
  );
  if (sharp === null) return null;
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
}
