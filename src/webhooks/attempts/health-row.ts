import { webhooks } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import { defineQuery } from "../../store/query.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Store } from "../../store/store.ts";

/** How a webhook has been doing; times are Unix milliseconds. */
export interface WebhookFailures {
  /** Failed attempts since the last accepted one. */
  failures: number;
  failingSince: number | null;
  pausedUntil: number | null;
}

/** What the row of a number's webhook says of it. */
export interface HealthRow {
  /** Beside the attempts' own commits: a count that is one behind after a crash does no harm. Never rejects. */
  write(health: WebhookFailures): Promise<void>;
  /** Waits for work as for what is being written. */
  track(work: Promise<void>): Promise<void>;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

const HEALTH = defineQuery("select failures, failing_since, paused_until from webhooks where device_id = ?", {
  failures: webhooks.failures,
  failingSince: webhooks.failingSince,
  pausedUntil: webhooks.pausedUntil,
});
const UPDATE = "update webhooks set failures = ?, failing_since = ?, paused_until = ? where device_id = ?";

/** What holds of a webhook that has not failed. */
export const HEALTHY: Readonly<WebhookFailures> = { failures: 0, failingSince: null, pausedUntil: null };

/** Whoever wrote it: the one who has the number. */
export const readHealth = async (
  { readOne }: Pick<Store, "readOne">,
  deviceId: number,
): Promise<WebhookFailures> => (await readOne(HEALTH, [deviceId])) ?? HEALTHY;

/** @param store in the hands of whoever has the number */
export function createHealthRow({ writer }: Pick<Store, "writer">, deviceId: number, log: Logger): HealthRow {
  let written: Promise<void> = Promise.resolve();

  function track(work: Promise<void>): Promise<void> {
    written = written.then(() => work);
    return work;
  }

  async function write({ failures, failingSince, pausedUntil }: WebhookFailures): Promise<void> {
    try {
      await writer.commit([{ sql: UPDATE, args: [failures, failingSince, pausedUntil, deviceId] }], {
        owning: deviceId,
      });
    } catch (err) {
      if (isWorthLogging(err)) log.error({ err, device: deviceId }, "could not count a webhook's failures");
    }
  }

  return { write: (health) => track(write(health)), track, idle: () => written };
}
