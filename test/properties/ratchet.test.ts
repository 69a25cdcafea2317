import { expect, it } from "vitest";
import { RatchetRun } from "./ratchet-run.ts";
import { TIME_LIMIT_MS } from "./runs.ts";

/** More by `npm run crash -- --ratchet`. */
const STEPS = 8_000;
/** The more sessions a record has, the longer libsignal takes to refuse what is forged. */
const RUNS = 2;

it(
  "the everyday ratchet: whatever is lost, late, repeated or forged, it gives what libsignal gives, and leaves the same record",
  async () => {
    const done = { sent: 0, read: 0, refusedByBoth: 0, readByLibsignalAlone: 0 };
    for (let run = 0; run < RUNS; run++) {
      const tally = await new RatchetRun(20_261_122 + run).run(STEPS / RUNS);
      for (const what of Object.keys(done) as (keyof typeof done)[]) done[what] += tally[what];
    }

    expect(done.sent).toBeGreaterThan(STEPS / 4);
    expect(done.read).toBeGreaterThan(STEPS / 5);
    expect(done.refusedByBoth).toBeGreaterThan(STEPS / 100);
    expect(done.readByLibsignalAlone).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
