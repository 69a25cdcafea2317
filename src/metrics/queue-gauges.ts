import { SECOND_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import type { MakeGauge } from "./node.ts";
import { readIncoming, readOutgoing } from "./queues.ts";

/** How much waits. @returns looks it up, or says nothing of it where another node does */
export function createQueueGauges(gauge: MakeGauge, store: Pick<Store, "readOne" | "now">) {
  const inbox = gauge("inbox_pending", "Messages that are waiting for a decision.", []);
  const inboxAge = gauge("inbox_oldest_age_seconds", "How long the oldest one has waited.", []);
  const outbox = gauge("outbox_pending", "Messages that are waiting to be sent.", []);
  const outboxAge = gauge("outbox_oldest_age_seconds", "How long the oldest one has waited.", []);
  const age = (since: number | null): number =>
    since === null ? 0 : Math.max(0, (store.now() - since) / SECOND_MS);

  return async (counted: boolean): Promise<void> => {
    if (!counted) return [inbox, inboxAge, outbox, outboxAge].forEach((queue) => queue.remove());
    const [incoming, outgoing] = [await readIncoming(store), await readOutgoing(store)];
    inbox.set(incoming.count);
    inboxAge.set(age(incoming.oldest));
    outbox.set(outgoing.count);
    outboxAge.set(age(outgoing.oldest));
  };
}
