import type { Logger } from "../log.ts";
import { failpoint } from "../model/failpoint.ts";
import { SENT_STATES } from "../model/messages.ts";
import { NotOwner, StorageUnavailable } from "../store/errors.ts";
import { NO_INTAKE, type Intake } from "../store/write/intake.ts";
import type { Store, Writer } from "../store/store.ts";
import type { MessageReceipt } from "../whatsapp/port.ts";
import type { QueuedRow, Reached, Rows } from "./rows.ts";
import type { StateNews } from "./state-news.ts";

/**
 * Collects how far messages have come and stores it together, one statement for each message: neither an acknowledgement
 * nor a receipt is worth a disk flush of its own. A crash in between costs a repetition under the message's id, which
 * phones drop, or of the receipt, which WhatsApp keeps until it is acknowledged; see `docs/guarantees.md`.
 */
export interface StateCollector {
  /** WhatsApp took it. */
  acknowledged(message: QueuedRow): void;
  /** @returns resolves when it is stored, or never can be; never when it is not, and WhatsApp is to tell it again. Never rejects */
  received(receipt: MessageReceipt): Promise<void>;
  /** It has left for certain, though its row may not say so yet. */
  hasLeft(waId: string): boolean;
  /** Resolves when what was told so far is stored, or could not be. Never rejects. */
  flush(): Promise<void>;
}

const RETRY_MS = 5_000;
/** Messages in one commit: few enough that the event loop does not notice. */
const PER_COMMIT = 200;
/** Messages while the database is away. What WhatsApp has taken is never forgotten, receipts may be. */
const MOST_WAITING = 10_000;

/** What is known of one message and not stored. */
interface News extends Reached {
  deviceId: number;
  waId: string;
  /** Who waits for its being stored. */
  stored: (() => void)[];
}

const NOTHING: Reached = { state: "queued", times: {}, attempts: 0 };

const rank = (state: Reached["state"]): number => SENT_STATES.indexOf(state);

/**
 * Of one number.
 *
 * @param store in the hands of whoever has it
 * @param tell      what telling of states takes, stored with them; null: nobody is told
 * @param collectMs how long a state waits for others of its message; then it joins the next commit. 0: it is stored at once
 */
export function createStateCollector(
  deviceId: number,
  { writer, time }: Pick<Store, "writer" | "time">,
  rows: Pick<Rows, "reached">,
  changed: (deviceId: number, waId: string) => void,
  tell: (news: readonly StateNews[]) => Promise<Intake> | null,
  log: Logger,
  collectMs = 50,
): StateCollector {
  let waiting = new Map<string, News>();
  /** On their way into the table. */
  let leaving = new Map<string, News>();
  let planned = false;
  let flushing = Promise.resolve();

  function plan(ms: number): void {
    if (ms === 0) return void flush();
    if (planned) return;
    planned = true;
    time.after(ms, () => {
      planned = false;
      flushing = flushing.then(() => storeWaiting(writer.soon));
    });
  }

  function note(waId: string, reached: Reached, stored: (() => void)[] = []): void {
    const before = waiting.get(waId) ?? { deviceId, waId, ...NOTHING, stored: [] };
    waiting.set(waId, merged(before, { ...reached, stored }));
    plan(collectMs);
  }

  function flush(): Promise<void> {
    // What joins the next commit need not wait for one.
    void writer.drain();
    flushing = flushing.then(() => storeWaiting(writer.commit));
    return flushing;
  }

  async function storeWaiting(commit: Writer["commit"]): Promise<void> {
    leaving = waiting;
    waiting = new Map();
    const all = [...leaving.values()];
    const way = all.length > PER_COMMIT ? writer.commit : commit;
    for (let from = 0; from < all.length; from += PER_COMMIT) {
      const error = await storeTogether(all.slice(from, from + PER_COMMIT), way);
      if (error === null) continue;
      const notStored = all.slice(from);
      log.warn(
        { err: error, device: deviceId, messages: notStored.length },
        "could not store states of messages yet",
      );
      putBack(notStored);
      break;
    }
    leaving = new Map();
  }

  /** Null when they are stored; one that can never be is dropped, and holds up none of the others. */
  async function storeTogether(some: News[], commit = writer.commit): Promise<StorageUnavailable | null> {
    try {
      const telling = tell(some);
      const told = telling === null ? NO_INTAKE : await telling;
      const own = some.map(rows.reached);
      // Not by its time: a receipt that was quicker than the ack leaves none.
      const isAcknowledged = some.some(({ attempts }) => attempts > 0);
      if (isAcknowledged) failpoint("before-outcome-commit");
      const results = await commit([...own, ...told.statements], { owning: deviceId });
      if (isAcknowledged) failpoint("after-outcome-commit");
      told.committed(results.slice(own.length));
    } catch (error) {
      // The new owner sends it once more, under its id, and hears what became of it.
      if (error instanceof NotOwner) return null;
      if (error instanceof StorageUnavailable) return error;
      if (some.length > 1) return storeOneByOne(some);
      log.warn({ err: error }, "dropping a state that cannot be stored");
      for (const { stored } of some) for (const tellOne of stored) tellOne();
      return null;
    }
    for (const { waId, stored } of some) {
      changed(deviceId, waId);
      for (const tellOne of stored) tellOne();
    }
    return null;
  }

  async function storeOneByOne(some: News[]): Promise<StorageUnavailable | null> {
    for (const one of some) {
      const failed = await storeTogether([one]);
      if (failed !== null) return failed;
    }
    return null;
  }

  function putBack(notStored: News[]): void {
    const newer = waiting;
    waiting = new Map(notStored.map((news) => [news.waId, news]));
    for (const [key, news] of newer) {
      const before = waiting.get(key);
      waiting.set(key, before === undefined ? news : merged(before, news));
    }
    for (const [key, { attempts }] of waiting) {
      if (waiting.size <= MOST_WAITING) break;
      if (attempts === 0) waiting.delete(key);
    }
    plan(RETRY_MS);
  }

  return {
    acknowledged: ({ waId, attempts }) =>
      note(waId, { state: "sent", times: { sent: time.now() }, attempts }),
    received: ({ waId, state, at }) =>
      new Promise((resolve) => note(waId, { state, times: { [state]: at }, attempts: 0 }, [resolve])),
    hasLeft: (waId) => waiting.has(waId) || leaving.has(waId),
    flush,
  };
}

/** The further state wins; nothing goes back, and no time lies before that of an earlier state. */
function merged(before: News, { state, times, attempts, stored }: Omit<News, "deviceId" | "waId">): News {
  const known = {
    ...before,
    attempts: Math.max(before.attempts, attempts),
    stored: [...before.stored, ...stored],
  };
  if (rank(state) <= rank(before.state)) return known;
  const after = Object.values(before.times);
  const at = Object.fromEntries(
    Object.entries(times).map(([reached, time]) => [reached, Math.max(time, ...after)]),
  );
  return { ...known, state, times: { ...at, ...before.times } };
}
