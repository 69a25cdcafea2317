import { listeners, webhooks } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import { defineQuery } from "../../store/query.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { Target } from "../receiver.ts";

/** How a receiver has been doing; times are Unix milliseconds. */
export interface WebhookFailures {
  /** Failed attempts since the last accepted one. */
  failures: number;
  failingSince: number | null;
  pausedUntil: number | null;
}

/** What the row of a webhook, or a listener, says of it. */
export interface HealthRow {
  /** Beside the attempts' own commits: a count that is one behind after a crash does no harm. Never rejects. */
  write(health: WebhookFailures): Promise<void>;
  /** Waits for work as for what is being written. */
  track(work: Promise<void>): Promise<void>;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

const HEALTH = "select failures, failing_since, paused_until from";
const OF_WEBHOOK = defineQuery(`${HEALTH} webhooks where device_id = ?`, {
  failures: webhooks.failures,
  failingSince: webhooks.failingSince,
  pausedUntil: webhooks.pausedUntil,
});
const OF_LISTENER = defineQuery(`${HEALTH} listeners where device_id = ? and id = ?`, {
  failures: listeners.failures,
  failingSince: listeners.failingSince,
  pausedUntil: listeners.pausedUntil,
});
const CHANGE = "set failures = ?, failing_since = ?, paused_until = ? where device_id = ?";

/** What holds of a receiver that has not failed. */
export const HEALTHY: Readonly<WebhookFailures> = { failures: 0, failingSince: null, pausedUntil: null };

/** Whoever wrote it: the one who has the number. */
export const readHealth = async (
  { readOne }: Pick<Store, "readOne">,
  { deviceId, listener }: Target,
): Promise<WebhookFailures> =>
  (await (listener === "" ? readOne(OF_WEBHOOK, [deviceId]) : readOne(OF_LISTENER, [deviceId, listener]))) ??
  HEALTHY;

function update({ deviceId, listener }: Target, health: WebhookFailures): Statement {
  const { failures, failingSince, pausedUntil } = health;
  const args = [failures, failingSince, pausedUntil, deviceId];
  return listener === ""
    ? { sql: `update webhooks ${CHANGE}`, args }
    : { sql: `update listeners ${CHANGE} and id = ?`, args: [...args, listener] };
}

/** @param store in the hands of whoever has the number */
export function createHealthRow({ writer }: Pick<Store, "writer">, target: Target, log: Logger): HealthRow {
  const { deviceId } = target;
  let written: Promise<void> = Promise.resolve();

  function track(work: Promise<void>): Promise<void> {
    written = written.then(() => work);
    return work;
  }

  async function write(health: WebhookFailures): Promise<void> {
    try {
      await writer.commit([update(target, health)], { owning: deviceId });
    } catch (err) {
      if (isWorthLogging(err)) log.error({ err, device: deviceId }, "could not count a webhook's failures");
    }
  }

  return { write: (health) => track(write(health)), track, idle: () => written };
}
