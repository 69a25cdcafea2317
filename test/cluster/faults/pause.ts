import type { Part } from "../part.ts";

/** Time that a fault takes. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const STANDS_MS = 300;
const GOES_MS = 100;

/** A process gets a quarter of its time for so long, as on a machine that is far too busy. */
export async function slowDown(part: Part, forMs: number): Promise<void> {
  for (const end = Date.now() + forMs; Date.now() < end;) {
    part.signal("SIGSTOP");
    await pause(STANDS_MS);
    part.signal("SIGCONT");
    await pause(GOES_MS);
  }
}
