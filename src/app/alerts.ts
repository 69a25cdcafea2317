import { createAlerts, type Alerts } from "../alerts/alerts.ts";
import { createSafeFetch } from "../net/safe-fetch.ts";
import { adviceFor } from "../numbers/link.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { MessagePath } from "../path/path.ts";
import type { Base } from "./data.ts";

/** Lets the operator be told at `ALERT_URL`. The address is the operator's own, so it may be a private one. */
export function openAlerts(
  { config, store, log, cluster, observers }: Base,
  { all, get }: Pick<Numbers, "all" | "get">,
  { webhooks }: Pick<MessagePath, "webhooks">,
): Alerts {
  const alerts = createAlerts({
    config,
    store,
    log,
    cluster,
    http: createSafeFetch({ allowPrivateNetwork: true }),
    numbers: {
      all,
      get,
      advice(deviceId) {
        const device = get(deviceId);
        return device && adviceFor(device.state, device.lastClose);
      },
      webhookOff(deviceId) {
        const health = webhooks.healthHere(deviceId);
        return health?.state === "disabled" ? health.reason : null;
      },
      listenerOff: (deviceId) => webhooks.listeners.switchedOff(deviceId),
    },
  });
  observers.add(alerts.observer);
  return alerts;
}
