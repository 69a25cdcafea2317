/** How loud something was over its time: the picture that phones draw of a voice note. */
export interface Levels {
  /** @param samples of one channel, in any scale: only their relation counts */
  add(samples: Float32Array | Int16Array): void;
  /** How many samples there were. */
  count(): number;
  /** 64 bytes from 0 to 100, the loudest part 100. */
  waveform(): Buffer;
}

const BARS = 64;

/** @param perWindow samples that are looked at together; a long recording must not be held as it is */
export function createLevels(perWindow: number): Levels {
  const windows: number[] = [];
  let sum = 0;
  let inWindow = 0;
  let total = 0;

  return {
    add(samples) {
      total += samples.length;
      for (const sample of samples) {
        sum += Math.abs(sample);
        if (++inWindow < perWindow) continue;
        windows.push(sum / perWindow);
        sum = 0;
        inWindow = 0;
      }
    },
    count: () => total,
    waveform() {
      const all = inWindow === 0 ? windows : [...windows, sum / inWindow];
      const bars = Array.from({ length: BARS }, (_, bar) => {
        const from = Math.floor((bar * all.length) / BARS);
        const to = Math.max(from + 1, Math.floor(((bar + 1) * all.length) / BARS));
        const part = all.slice(from, to);
        return part.reduce((a, b) => a + b, 0) / Math.max(1, part.length);
      });
      const loudest = Math.max(...bars);
      return Buffer.from(bars.map((bar) => (loudest === 0 ? 0 : Math.round((100 * bar) / loudest))));
    },
  };
}
