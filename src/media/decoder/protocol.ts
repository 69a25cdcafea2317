import type { Found } from "./identify.ts";
import type { Picture } from "./picture.ts";
import type { Sound } from "./sound.ts";
import type { Sticker } from "./sticker.ts";

/** Everything that a file can be asked, with its question and its answer. Paths are of files in the clear. */
export interface Jobs {
  /** What its first and its last bytes say it is. */
  identify: { asks: { head: Uint8Array; tail: Uint8Array }; answers: Found };
  /** Size and small picture of an image. */
  picture: { asks: { path: string }; answers: Picture };
  /** Makes a sticker of an image at another path; null where no program for that is made for this machine. */
  sticker: { asks: { path: string; output: string }; answers: Sticker | null };
  /** Makes a JPEG of an image as profiles have it; null where no program for that is made for this machine. */
  avatar: { asks: { path: string }; answers: Uint8Array | null };
  /** What an audio file says of itself. */
  sound: { asks: { path: string; mimetype: string }; answers: Sound };
  /** Duration and waveform of Ogg/Opus. */
  opus: { asks: { path: string }; answers: { seconds: number; waveform: Uint8Array } };
}

/** The name of a job. */
export type JobName = keyof Jobs;

/** One job, as it goes to the decoder's process; one at a time. */
export interface Question<Name extends JobName = JobName> {
  job: Name;
  asks: Jobs[Name]["asks"];
}

/**
 * What comes back. The first of all says that the process is ready.
 *
 * `isFull`: the process holds on to so much memory that the next file could lack it.
 */
export type DecoderAnswer =
  | { ready: true }
  | (({ answers: Jobs[JobName]["answers"] } | { failed: string }) & { isFull: boolean });
