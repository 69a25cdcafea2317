import type { FileFacts } from "../model/media.ts";
import type { Ffmpeg } from "./ffmpeg.ts";

/** Larger images are bombs: few phones take one, and unpacked it needs four bytes for each pixel. */
const MAX_PIXELS = 100_000_000;
/** Longest side; the picture travels in every copy of the message. */
const THUMBNAIL_PIXELS = 72;
const THUMBNAIL_QUALITY = 60;
const MAX_SECONDS = 30;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** What a chat shows before the file is loaded: a small JPEG, and the size of the original in pixels. */
export type Picture = Pick<FileFacts, "thumbnail" | "width" | "height">;

/**
 * Dimensions as they are shown, and a small JPEG. Decoded outside of the event loop. Nothing where the decoder is not
 * made for this machine.
 *
 * @throws when the image cannot be decoded or has too many pixels
 */
export async function readImage(image: string | Buffer): Promise<Picture> {
  const sharp = await loadSharp();
  if (sharp === null) return {};
  const options = { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: "error" as const };
  const { width, height, orientation = 1 } = await sharp(image, options).metadata();
  const thumbnail = await sharp(image, options)
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

/** Of a video: the first picture and the duration. Whatever ffmpeg cannot tell is left out; without one it is nothing. */
export async function readVideo(ffmpeg: Ffmpeg, path: string): Promise<Picture & Pick<FileFacts, "seconds">> {
  if (ffmpeg.find() === null) return {};
  const frame: Buffer[] = [];
  let bytes = 0;
  const args = "-loglevel info -map 0:v:0 -an -sn -dn -frames:v 1 -c:v mjpeg -q:v 4 -f image2pipe pipe:1";
  const said = await ffmpeg.run(path, args.split(" "), (chunk) => {
    bytes += chunk.length;
    if (bytes <= MAX_FRAME_BYTES) frame.push(chunk);
  });
  const seconds = durationIn(said);
  return { ...(seconds === null ? {} : { seconds }), ...(await readImage(Buffer.concat(frame))) };
}

/** `  Duration: 00:01:02.50, start: …` */
function durationIn(said: string): number | null {
  const [, hours, minutes, seconds] = /^ *Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/m.exec(said) ?? [];
  if (seconds === undefined) return null;
  return Math.max(1, Math.round(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}

/** Loaded with the first picture: a gateway that sends none does without its memory. */
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
