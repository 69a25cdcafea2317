import type { Verdict } from "./evidence.ts";

const SHORTEST_PAUSE_MS = 100;
/** To look costs the machine what those who are looked at could do with. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * Judges until nothing is wrong, or what is wrong has stayed the same for a while: what is under way looks like something
 * lost, and a slow machine may take its time as long as it gets on.
 *
 * @param stillMs how long it must have stayed the same
 */
export async function atRest(look: () => Promise<Verdict>, stillMs: number): Promise<Verdict> {
  let before = "";
  let since = Date.now();
  for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const verdict = await look();
    const found = verdict.problems.join();
    if (found === "" || (found === before && Date.now() - since > stillMs)) return verdict;
    if (found !== before) [before, since] = [found, Date.now()];
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
