import { stat } from "node:fs/promises";
import { parseFile } from "music-metadata";
import { opusSeconds } from "./ogg.ts";

/** What an audio file says of itself; read piece by piece. */
export interface Sound {
  /** Null when it does not say. */
  seconds: number | null;
  hasVideo: boolean;
}

/**
 * Looks at the file's headers only: counting the frames of a large file would take many seconds, so where no header says
 * the duration it is reckoned from size and bit rate. Nothing is taken from tags.
 *
 * A file that cannot be read says nothing: whether a phone can play it is another question.
 */
export async function readSound(path: string, mimetype: string): Promise<Sound> {
  const { format } = await parseFile(path, {
    duration: false,
    skipCovers: true,
    skipPostHeaders: true,
  }).catch(() => ({
    format: { hasVideo: mimetype.startsWith("video/"), duration: undefined, bitrate: undefined },
  }));
  const seconds = format.duration ?? (await reckoned(path, format.bitrate));
  return {
    seconds: seconds === null ? null : Math.max(1, Math.round(seconds)),
    hasVideo: format.hasVideo === true,
  };
}

async function reckoned(path: string, bitsPerSecond: number | undefined): Promise<number | null> {
  if (bitsPerSecond) return ((await stat(path)).size * 8) / bitsPerSecond;
  return opusSeconds(path).catch(() => null);
}
