import type { Logger } from "pino";
import type { Statement, Writer } from "../store/store.ts";
import type { Schedule } from "./schedule.ts";

/** Collects what receipts change and commits it together: a receipt is no promise, so it need not cost a disk flush. */
export interface ReceiptCollector {
  /** @param stored called after the commit */
  add(statements: Statement[], stored: () => void): void;
  /** Resolves when what was added so far is committed, or has failed to be. */
  flush(): Promise<void>;
}

const COLLECT_MS = 100;
const RETRY_MS = 5_000;
/** While the database is away. */
const MAX_WAITING = 10_000;

interface Waiting {
  statements: Statement[];
  stored: () => void;
}

export function createReceiptCollector(writer: Writer, schedule: Schedule, log: Logger): ReceiptCollector {
  let waiting: Waiting[] = [];
  let planned = false;
  let flushing = Promise.resolve();

  function plan(ms: number): void {
    if (planned) return;
    planned = true;
    schedule(ms, () => {
      planned = false;
      void flush();
    });
  }

  function flush(): Promise<void> {
    flushing = flushing.then(commitWaiting);
    return flushing;
  }

  async function commitWaiting(): Promise<void> {
    const taken = waiting;
    waiting = [];
    if (taken.length === 0) return;
    try {
      await writer.commit(taken.flatMap(({ statements }) => statements));
    } catch (error) {
      log.warn({ receipts: taken.length, error: (error as Error).name }, "receipts are not stored yet");
      waiting = [...taken, ...waiting].slice(-MAX_WAITING);
      plan(RETRY_MS);
      return;
    }
    for (const { stored } of taken) stored();
  }

  return {
    add(statements, stored) {
      waiting.push({ statements, stored });
      plan(COLLECT_MS);
    },
    flush,
  };
}
