import type { Logger } from "../../log.ts";
import { SECOND_MS } from "../../model/time.ts";
import { sealOnceClear } from "./once-clear.ts";
import { resealFormer } from "./resealing.ts";
import type { Store } from "../store.ts";

const TROUBLE_MS = 60 * SECOND_MS;

/** Seals what earlier versions wrote in the clear, or with another key than is used now. */
export interface Sealing {
  /** In the background, a few rows in each commit. Ended at any instant, the next start goes on where this one was. */
  start(): void;
  /** Resolves when everything is sealed, or it was stopped. */
  finished(): Promise<void>;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** Nothing runs before `start`. */
export function createSealing({ store, log }: { store: Store; log: Logger }): Sealing {
  const ending = new AbortController();
  const { signal: stopping } = ending;
  let running: Promise<void> = Promise.resolve();

  async function sealAll(): Promise<void> {
    while (!stopping.aborted) {
      try {
        const clear = await sealOnceClear(store, stopping);
        if (clear > 0 && !stopping.aborted)
          log.info({ values: clear }, "sealed data that was stored unencrypted");
        const former = await resealFormer(store, stopping);
        if (former > 0 && !stopping.aborted)
          log.info({ values: former }, "sealed again the data that was sealed with a single key");
        return;
      } catch (err) {
        log.error({ err }, "could not seal data that an earlier version wrote; trying again in a minute");
        await store.time.pause(TROUBLE_MS, stopping);
      }
    }
  }

  return {
    start() {
      running = sealAll();
    },
    finished: () => running,
    stop() {
      ending.abort();
      return running;
    },
  };
}
