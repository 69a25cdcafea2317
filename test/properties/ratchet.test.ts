import { expect, it } from "vitest";
import { RatchetRun } from "./ratchet-run.ts";
import { TIME_LIMIT_MS } from "./runs.ts";

/** More by `npm run crash -- --ratchet`. */
const STEPS = 20_000;

it(
  "the everyday ratchet: whatever is lost, late, repeated or forged, it gives what libsignal gives, and leaves the same record",
  async () => {
    const { sent, read, refusedByBoth, readByLibsignalAlone } = await new RatchetRun(20_261_122).run(STEPS);

    expect(sent).toBeGreaterThan(STEPS / 4);
    expect(read).toBeGreaterThan(STEPS / 5);
    expect(refusedByBoth).toBeGreaterThan(STEPS / 100);
    expect(readByLibsignalAlone).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
