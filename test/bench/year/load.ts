import type { Simulator } from "../../../src/simulator/index.ts";

const EVERY_MS = 200;
const PATIENCE_MS = 600_000;

/** A contact who writes and is answered, again and again, whatever else goes on. */
export interface Load {
  /** The longest that an answer took since this was last asked, in milliseconds; one that is still awaited counts. */
  longestAnswerMs(): number;
  /** How many answers came so far. */
  readonly answers: number;
  end(): Promise<void>;
}

/** Lets a contact begin to write to a number whose bot answers. */
export function writeAllTheTime(sim: Simulator, guest: string, number: string): Load {
  const stopping = new AbortController();
  let longest = 0;
  let answers = 0;
  let askedAt: number | null = null;
  const note = (): void => {
    if (askedAt !== null) longest = Math.max(longest, performance.now() - askedAt);
  };
  const done = (async () => {
    let since = (await sim.messages(guest, { from: number })).at(-1)?.seq ?? 0;
    while (!stopping.signal.aborted) {
      askedAt = performance.now();
      await sim.sendText(guest, number, "ping");
      ({ seq: since } = await sim.waitForMessage(guest, { from: number, since }, PATIENCE_MS));
      note();
      askedAt = null;
      answers++;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return {
    longestAnswerMs() {
      note();
      const found = longest;
      longest = 0;
      return found;
    },
    get answers() {
      return answers;
    },
    async end() {
      stopping.abort();
      await done;
    },
  };
}
