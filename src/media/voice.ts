import type { Ffmpeg } from "./ffmpeg.ts";
import { createLevels } from "./levels.ts";

const SAMPLES_PER_SECOND = 8_000;
const WINDOW = SAMPLES_PER_SECOND / 50;

/** As phones record: mono, 16 kHz, Opus for speech in frames of 60 ms. Others are refused by some phones. */
const VOICE =
  "-map 0:a:0 -vn -sn -dn -map_metadata -1 -ac 1 -ar 16000 -c:a libopus -b:a 24k -application voip -frame_duration 60 -threads 1 -f ogg -y";
/** The same sound plainly, for duration and waveform. */
const PLAIN = `-map 0:a:0 -vn -sn -dn -ac 1 -ar ${SAMPLES_PER_SECOND} -f s16le pipe:1`;

/** ffmpeg takes 45 MiB for itself, and little for sound. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** A long recording may take its time as long as it gets on: so many seconds of sound in each second. */
const LEAST_SPEED = 5;
const LONGEST_MS = 60_000;

/**
 * Makes a voice note of any sound.
 *
 * @param output path of the Ogg/Opus file that is made
 * @returns seconds, whole and at least 1
 * @throws {Unreadable}
 */
export async function makeVoiceNote(
  ffmpeg: Ffmpeg,
  input: string,
  output: string,
  signal: AbortSignal,
): Promise<{ seconds: number; waveform: Buffer }> {
  const levels = createLevels(WINDOW);
  let odd: Buffer = Buffer.alloc(0);
  await ffmpeg.run({
    input,
    args: ["-loglevel", "error", ...VOICE.split(" "), `file:${output}`, ...PLAIN.split(" ")],
    memoryBytes: MEMORY_BYTES,
    signal,
    mayGoOn: (ms) => ms < LONGEST_MS && levels.count() / SAMPLES_PER_SECOND >= (LEAST_SPEED * ms) / 1000,
    onOutput(chunk) {
      const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
      const whole = bytes.length - (bytes.length % 2);
      odd = bytes.subarray(whole);
      // Copied, because samples of two bytes must begin at an even address.
      levels.add(new Int16Array(new Uint8Array(bytes.subarray(0, whole)).buffer));
    },
  });
  const seconds = Math.max(1, Math.round(levels.count() / SAMPLES_PER_SECOND));
  return { seconds, waveform: levels.waveform() };
}
