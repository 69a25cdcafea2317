import type { Logger } from "../../log.ts";
import { sharedAbort } from "../../model/shared-abort.ts";
import type { SafeFetch } from "../../net/safe-fetch.ts";
import type { Store } from "../../store/store.ts";
import type { EventFiles } from "../events/files.ts";
import type { Receiver, Target } from "../receiver.ts";
import type { ReceiverAtHand } from "../receivers.ts";
import type { LateReplies } from "../replies/late-replies.ts";
import type { insertDelivery } from "../rows.ts";
import type { WebhookEvent } from "../webhook-event.ts";
import { createBreaker, type Breaker } from "./breaker.ts";
import { createDeliverer, type Deliverer } from "./deliver.ts";
import { createDueRows, type DueRows } from "./due.ts";
import { createInFlight, type InFlight } from "./in-flight.ts";
import { createDeliveryQueue, type DeliveryQueue } from "./queue.ts";
import type { AttemptShares } from "./shares.ts";

/** What posting to one receiver takes. */
interface PostingDeps {
  target: Target;
  receiver: ReceiverAtHand<Receiver>;
  /** In the hands of whoever has the number. */
  store: Store;
  log: Logger;
  http: Pick<SafeFetch, "request">;
  files: EventFiles;
  random: () => number;
  shares: AttemptShares;
  /** Attempts at the same time, at most. Default: as many as its number may have. */
  mostSlots?: number;
  observe?: ((event: WebhookEvent) => void) | undefined;
  /** It is paused, or used again, or was switched off. Default: the log alone says so. */
  turned?: (to: "paused" | "ok" | "disabled") => void;
  /** A commit has shown that another process has the number; called once or more. */
  onLost(): void;
}

/** All that is posted to one receiver, and how it does. */
export interface Posting extends Pick<DeliveryQueue, "start" | "wake"> {
  readonly breaker: Breaker;
  readonly deliverer: Deliverer;
  readonly queue: DeliveryQueue;
  readonly due: DueRows;
  readonly inFlight: InFlight;
  /** Aborts when what is under way is cut off. */
  readonly stopping: AbortSignal;
  /** How a row is put behind others of its chat, see `insertDelivery`. */
  order(): NonNullable<Parameters<typeof insertDelivery>[4]>;
  /** Begins no attempt any more; resolves when none is under way. */
  stop(): Promise<void>;
  /** Cuts off what is under way: it does not count. */
  abort(reason: Error): void;
}

/** @param repliesOf what follows from answers of later attempts. Default: nothing does */
export function createPosting(
  deps: PostingDeps,
  repliesOf: (stopping: AbortSignal) => LateReplies | null = () => null,
): Posting {
  const { target, receiver, store, log, http, files, random, shares, observe } = deps;
  const { turned = () => undefined } = deps;
  const { time, now } = store;
  const stopping = sharedAbort();
  const { signal } = stopping;
  const inFlight = createInFlight();
  const due = createDueRows(store);
  const breaker = createBreaker({
    target,
    store,
    now,
    log,
    random,
    wake: () => queue.wake(),
    mostSlots: deps.mostSlots,
    turned,
  });
  const deliverer = createDeliverer({ http, time, stopping: signal, inFlight, observe });
  const queue: DeliveryQueue = createDeliveryQueue({
    target,
    receiver,
    store,
    log,
    breaker,
    due,
    deliverer,
    files,
    random,
    now,
    observe,
    onDisabled: () => turned("disabled"),
    replies: repliesOf(signal),
    share: shares.of(target.deviceId, breaker.slots),
    onLost: deps.onLost,
  });
  return {
    breaker,
    deliverer,
    queue,
    due,
    inFlight,
    stopping: signal,
    start: queue.start,
    wake: queue.wake,
    // Behind a receiver that is away a chat's oldest goes first.
    order: () => (breaker.isOpen() ? "behind" : "in turn"),
    async stop() {
      await Promise.all([queue.stop(), inFlight.idle()]);
      await breaker.idle();
    },
    abort: (reason) => stopping.abort(reason),
  };
}
