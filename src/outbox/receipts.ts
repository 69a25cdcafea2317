import type { Logger } from "pino";
import { StorageUnavailable } from "../store/errors.ts";
import type { Statement, Store } from "../store/store.ts";

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

export function createReceiptCollector(
  { writer, time }: Pick<Store, "writer" | "time">,
  log: Logger,
): ReceiptCollector {
  let waiting: Waiting[] = [];
  let planned = false;
  let flushing = Promise.resolve();

  function plan(ms: number): void {
    if (planned) return;
    planned = true;
    time.after(ms, () => {
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
    const failed = await commitTogether(taken);
    if (failed === null) return;
    if (!(failed instanceof StorageUnavailable)) return commitOneByOne(taken);
    log.warn({ receipts: taken.length, error: failed.name }, "receipts are not stored yet");
    waiting = [...taken, ...waiting].slice(-MAX_WAITING);
    plan(RETRY_MS);
  }

  /** Null when they are stored. */
  async function commitTogether(taken: Waiting[]): Promise<Error | null> {
    try {
      await writer.commit(taken.flatMap(({ statements }) => statements));
    } catch (error) {
      return error as Error;
    }
    for (const { stored } of taken) stored();
    return null;
  }

  /** One of them cannot be stored, ever: it is dropped, and holds up none of the others. */
  async function commitOneByOne(taken: Waiting[]): Promise<void> {
    for (const [index, one] of taken.entries()) {
      const failed = await commitTogether([one]);
      if (failed instanceof StorageUnavailable) {
        waiting = [...taken.slice(index), ...waiting];
        return plan(RETRY_MS);
      }
      if (failed !== null) log.warn({ error: failed.name }, "a receipt that cannot be stored is dropped");
    }
  }

  return {
    add(statements, stored) {
      waiting.push({ statements, stored });
      plan(COLLECT_MS);
    },
    flush,
  };
}
