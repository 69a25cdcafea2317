import { createEvents } from "../events/events.ts";
import { createPublisher } from "../events/publisher.ts";
import { createSharedEvents } from "../events/shared-events.ts";
import { createEventStreams } from "../events/stream.ts";
import { createDisconnectCounter } from "../metrics/disconnects.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createTraffic } from "../metrics/traffic.ts";
import { observePath, observeTraffic } from "../metrics/path-observer.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { MessagePath } from "../path/path.ts";
import { deliveryId } from "../webhooks/rows.ts";
import type { Base, Data } from "./data.ts";

/** Lets those be told who are asked what happened: `/events` and `/metrics`. */
export function observe(
  { store, log, observers, cluster, redis }: Base,
  { whatsapp }: Pick<Data, "whatsapp">,
  path: MessagePath,
  numbers: Numbers,
) {
  const { webhooks, findRow } = path;
  const metrics = createMetrics({
    store,
    sessions: numbers.states,
    clientVersion: whatsapp.clientVersion,
    node:
      cluster.node === null
        ? undefined
        : { name: cluster.node, owns: cluster.ownership.owns, redisIsAway: () => redis?.isAway ?? true },
  });
  const events =
    redis === null
      ? createEvents(store.time)
      : createSharedEvents({
          store,
          cluster,
          log,
          streams: createEventStreams(redis, cluster.node ?? "", store.time),
        });
  const publisher = createPublisher({
    events,
    now: store.now,
    device: numbers.get,
    deliveryOf: ({ deviceId, inboxId }) => deliveryId(store.box, deviceId, inboxId),
    findMessage: findRow,
    findDelivery: webhooks.deliveries.find,
    webhook: webhooks.get,
  });
  observers.add(publisher);
  observers.add(observePath(metrics));
  const traffic = createTraffic({ store, cluster, log });
  observers.add(observeTraffic(traffic));
  const disconnects = createDisconnectCounter(metrics.disconnected, store.now());
  observers.add({ device: ({ record }) => disconnects.look(record) });
  return { metrics, traffic, events };
}
