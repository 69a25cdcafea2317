import type { Metadata } from "sharp";

/** Of images that are unpacked line by line. Few phones take a larger one. */
export const MAX_PIXELS = 100_000_000;
/** Of those that are unpacked whole: each pixel takes four bytes or more. */
export const MAX_PIXELS_AT_ONCE = 17_000_000;
/** How long one step of the work may take. */
export const MAX_SECONDS = 5;

/** How many pixels an image may have. */
export const mostPixelsOf = (facts: Metadata): number =>
  isUnpackedWhole(facts) ? MAX_PIXELS_AT_ONCE : MAX_PIXELS;

/** WebP and GIF always are, PNG when it shows itself at first coarsely. What JPEG takes depends on more: see the process's limit. */
const isUnpackedWhole = ({ format, isProgressive }: Metadata): boolean =>
  format !== "jpeg" && (isProgressive || format !== "png");

/** Loaded with the first picture: what reads other files only does without its memory. */
export async function loadSharp(): Promise<(typeof import("sharp"))["default"] | null> {
  const sharp = await import("sharp").then(
    (module) => module.default,
    () => null,
  );
  if (sharp === null) return null;
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
}
