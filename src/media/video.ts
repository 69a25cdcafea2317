import { rm, writeFile } from "node:fs/promises";
import type { FileFacts } from "../model/media/media.ts";
import type { Decoder } from "./decoder/decoder.ts";
import type { Picture } from "./decoder/picture.ts";
import { Unreadable } from "./decoder/process.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import { PRIVATE } from "./seal.ts";

const MAX_FRAME_BYTES = 1024 * 1024;
/** ffmpeg takes 45 MiB for itself; a frame of 4K takes 12 MiB, and a few are held. */
const MEMORY_BYTES = 80 * 1024 * 1024;
/** Whole frames only, and none before the first: those in between need their neighbours in memory. */
const READING = "-skip_frame nokey -flags low_delay".split(" ");
const FIRST_PICTURE =
  "-loglevel info -map 0:v:0 -an -sn -dn -vf scale=w=320:h=320:force_original_aspect_ratio=decrease -frames:v 1 -c:v mjpeg -threads 1 -q:v 4 -f image2pipe pipe:1".split(
    " ",
  );

/** Of a video: what it shows and how long it is. */
export type VideoFacts = Picture & Pick<FileFacts, "seconds">;

/**
 * The first picture of a video, its size and duration. Whatever ffmpeg cannot tell is left out; without one it is nothing.
 *
 * @param frame where the picture may lie meanwhile
 * @throws {Unreadable}
 */
export async function readVideo(
  { ffmpeg, decoder }: { ffmpeg: Ffmpeg; decoder: Pick<Decoder, "ask"> },
  path: string,
  frame: string,
  signal: AbortSignal,
): Promise<VideoFacts> {
  if (ffmpeg.find() === null) return {};
  const chunks: Buffer[] = [];
  let bytes = 0;
  const said = await ffmpeg.run({
    input: path,
    reading: READING,
    args: FIRST_PICTURE,
    memoryBytes: MEMORY_BYTES,
    signal,
    onOutput(chunk) {
      bytes += chunk.length;
      if (bytes <= MAX_FRAME_BYTES) chunks.push(chunk);
    },
  });
  if (bytes > MAX_FRAME_BYTES) throw new Unreadable("Its first picture is too large.");
  await writeFile(frame, Buffer.concat(chunks), { mode: PRIVATE });
  try {
    const { thumbnail } = await decoder.ask("picture", { path: frame });
    return { ...durationIn(said), ...sizeIn(said), ...(thumbnail !== undefined && { thumbnail }) };
  } finally {
    await rm(frame, { force: true });
  }
}

/** `  Duration: 00:01:02.50, start: …` */
function durationIn(said: string): Pick<FileFacts, "seconds"> {
  const [, hours, minutes, seconds] =
    /^ {1,8}Duration: (\d{1,5}):(\d\d):(\d\d(?:\.\d{1,6})?)/m.exec(said) ?? [];
  if (seconds === undefined) return {};
  return { seconds: Math.max(1, Math.round(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))) };
}

/** `  Stream #0:0[0x1](und): Video: h264 (Main), yuv420p, 1920x1080 [SAR 1:1 DAR 16:9], …`, and how it is to be turned. */
function sizeIn(said: string): Pick<Picture, "width" | "height"> {
  const stream = said.split("\n").find((line) => /^ {1,8}Stream #/.test(line) && line.includes(": Video: "));
  const [, width, height] = /, (\d{1,5})x(\d{1,5})(?=[ ,]|$)/.exec(stream ?? "") ?? [];
  if (width === undefined) return {};
  const [, turned] = /displaymatrix: rotation of (-?\d{1,3})/.exec(said) ?? [];
  const lies = Math.abs(Number(turned ?? 0)) % 180 === 90;
  return lies
    ? { width: Number(height), height: Number(width) }
    : { width: Number(width), height: Number(height) };
}
