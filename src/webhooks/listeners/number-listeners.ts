import type { DueRows } from "../attempts/due.ts";
import { createPosting, type Posting } from "../attempts/posting.ts";
import type { SharedWebhooks, WebhookNumber } from "../parts.ts";
import { createTellings, type Tellings } from "./tellings.ts";

/** Five of them leave room in what an account may have under way, so that none keeps another from its attempts. */
const MOST_SLOTS = 6;

/** What is posted to a number's listeners. */
export interface NumberListeners {
  readonly tellings: Tellings;
  /** Reads how they do. @throws StorageUnavailable */
  load(): Promise<void>;
  start(): void;
  wake(): void;
  /** What posts to a listener; of one that is new, too. */
  get(id: string): Posting;
  /** It was deleted: what still waits for it ends. */
  gone(id: string): void;
  stop(): Promise<void>;
  abort(reason: Error): void;
}

/** Each has a queue, a breaker and attempts of its own. */
export function createNumberListeners(
  shared: SharedWebhooks,
  number: WebhookNumber,
  due: Pick<DueRows, "listeners">,
): NumberListeners {
  const { listeners, log } = shared;
  const { deviceId, store } = number;
  const postings = new Map<string, Posting>();
  /** Of listeners that were deleted: what is under way for them ends. */
  const leaving = new Map<Posting, Promise<void>>();
  let phase: "loading" | "running" | "stopped" = "loading";

  function get(id: string): Posting {
    const known = postings.get(id);
    if (known !== undefined) return known;
    const posting = openPosting(shared, number, id);
    postings.set(id, posting);
    if (phase === "running") posting.start();
    return posting;
  }

  function leave(id: string): void {
    const posting = postings.get(id);
    if (posting === undefined) return;
    postings.delete(id);
    leaving.set(
      posting,
      posting.stop().finally(() => leaving.delete(posting)),
    );
  }

  return {
    get,
    tellings: createTellings({
      ...shared,
      store,
      now: store.now,
      listeners: () => listeners.of(deviceId),
      postingOf: ({ listener }) => get(listener),
    }),
    async load() {
      const known = listeners.of(deviceId).map(({ listener }) => listener);
      // What waits for one that was deleted is ended by its queue.
      const waiting = await due.listeners(deviceId);
      const all = [...new Set([...known, ...waiting])].map(get);
      await Promise.all(all.map((posting) => posting.breaker.load()));
      for (const posting of all) posting.wake();
    },
    start() {
      if (phase === "stopped") return;
      phase = "running";
      for (const posting of postings.values()) posting.start();
    },
    wake() {
      for (const posting of postings.values()) posting.wake();
    },
    gone(id) {
      listeners
        .atHand({ deviceId, listener: id })
        .endForgotten()
        // Until then its queue looks every minute, and ends them.
        .then(() => leave(id))
        .catch((err: unknown) =>
          log.warn({ err, device: deviceId }, "could not end a listener's deliveries"),
        );
    },
    async stop() {
      phase = "stopped";
      await Promise.all([...Array.from(postings.values(), (posting) => posting.stop()), ...leaving.values()]);
    },
    abort(reason) {
      for (const posting of [...postings.values(), ...leaving.keys()]) posting.abort(reason);
    },
  };
}

function openPosting(
  shared: SharedWebhooks,
  { deviceId, store, onLost }: WebhookNumber,
  id: string,
): Posting {
  const target = { deviceId, listener: id };
  return createPosting({
    ...shared,
    target,
    receiver: shared.listeners.atHand(target),
    store,
    shares: shared.listenerShares,
    mostSlots: MOST_SLOTS,
    onLost,
  });
}
