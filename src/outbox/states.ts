import type { Logger } from "../log.ts";
import { SENT_STATES } from "../model/messages.ts";
import { StorageUnavailable } from "../store/errors.ts";
import { NO_INTAKE, type Intake } from "../store/intake.ts";
import type { Store, Writer } from "../store/store.ts";
import type { MessageReceipt } from "../whatsapp/port.ts";
import type { QueuedRow, Reached, Rows } from "./rows.ts";
import type { StateNews } from "./state-news.ts";

/**
 * Collects how far messages have come and stores it together, one statement for each message: neither an acknowledgement
 * nor a receipt is worth a disk flush of its own. A crash in between costs a repetition under the message's id, which
 * phones drop; see `docs/guarantees.md`.
 */
export interface StateCollector {
  /** WhatsApp took it. */
  acknowledged(message: QueuedRow): void;
  received(deviceId: number, receipt: MessageReceipt): void;
  /** It has left for certain, though its row may not say so yet. */
  hasLeft(deviceId: number, waId: string): boolean;
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
}

const rank = (state: Reached["state"]): number => SENT_STATES.indexOf(state);

/**
 * @param tell      what telling of states takes, stored with them; null: nobody is told
 * @param collectMs how long a state waits for others of its message; then it joins the next commit. 0: it is stored at once
 */
export function createStateCollector(
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

  function note(deviceId: number, waId: string, state: Reached["state"], at: number, attempts = 0): void {
    const key = keyOf(deviceId, waId);
    const before = waiting.get(key) ?? { deviceId, waId, state: "queued" as const, times: {}, attempts };
    waiting.set(key, merged(before, { state, times: { [state]: at }, attempts }));
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
      const failed = await storeTogether(all.slice(from, from + PER_COMMIT), way);
      if (failed === null) continue;
      log.warn({ err: failed, messages: all.length - from }, "states of messages are not stored yet");
      putBack(all.slice(from));
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
      const results = await commit([...own, ...told.statements]);
      told.committed(results.slice(own.length));
    } catch (error) {
      if (error instanceof StorageUnavailable) return error;
      if (some.length > 1) return storeOneByOne(some);
      log.warn({ err: error }, "a state that cannot be stored is dropped");
      return null;
    }
    for (const { deviceId, waId } of some) changed(deviceId, waId);
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
    waiting = new Map(notStored.map((news) => [keyOf(news.deviceId, news.waId), news]));
    for (const [key, news] of newer) waiting.set(key, merged(waiting.get(key) ?? news, news));
    for (const [key, { attempts }] of waiting) {
      if (waiting.size <= MOST_WAITING) break;
      if (attempts === 0) waiting.delete(key);
    }
    plan(RETRY_MS);
  }

  return {
    acknowledged: ({ deviceId, waId, attempts }) => note(deviceId, waId, "sent", time.now(), attempts),
    received: (deviceId, { waId, state, at }) => note(deviceId, waId, state, at),
    hasLeft(deviceId, waId) {
      const key = keyOf(deviceId, waId);
      return waiting.has(key) || leaving.has(key);
    },
    flush,
  };
}

/** The further state wins; nothing goes back, and no time lies before that of an earlier state. */
function merged(before: News, { state, times, attempts }: Reached): News {
  const known = { ...before, attempts: Math.max(before.attempts, attempts) };
  if (rank(state) <= rank(before.state)) return known;
  const after = Object.values(before.times);
  const at = Object.fromEntries(
    Object.entries(times).map(([reached, time]) => [reached, Math.max(time, ...after)]),
  );
  return { ...known, state, times: { ...at, ...before.times } };
}

const keyOf = (deviceId: number, waId: string): string => `${deviceId}:${waId}`;
