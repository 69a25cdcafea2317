import { webhooks } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";

/** How a webhook has been doing; times are Unix milliseconds. */
export interface WebhookFailures {
  /** Failed attempts since the last accepted one. */
  failures: number;
  failingSince: number | null;
  pausedUntil: number | null;
}

/** What rows say of webhooks that fail. */
export interface BreakerRows {
  /** Of all that fail, by number. */
  all(): Promise<Map<number, WebhookFailures>>;
  /** Null: the number has no webhook. */
  one(deviceId: number): Promise<WebhookFailures | null>;
  /** Beside the attempts' own commits: a count that is one behind after a crash does no harm. Never rejects. */
  write(deviceId: number, health: WebhookFailures): Promise<void>;
  /** The row is older than what is known here. */
  isBehind(deviceId: number): boolean;
  /** Waits for work as for what is being written. */
  track(work: Promise<void>): Promise<void>;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

const HEALTH = {
  failures: webhooks.failures,
  failingSince: webhooks.failingSince,
  pausedUntil: webhooks.pausedUntil,
};
const FAILING = defineQuery(
  "select device_id, failures, failing_since, paused_until from webhooks where failing_since is not null",
  { deviceId: webhooks.deviceId, ...HEALTH },
);
const ONE = defineQuery(
  "select failures, failing_since, paused_until from webhooks where device_id = ?",
  HEALTH,
);
const UPDATE = "update webhooks set failures = ?, failing_since = ?, paused_until = ? where device_id = ?";

/** Reads and writes how webhooks have been doing. */
export function createBreakerRows(
  { read, readOne, writer }: Pick<Store, "read" | "readOne" | "writer">,
  log: Logger,
): BreakerRows {
  /** How many writes of a number are under way. */
  const writing = new Map<number, number>();
  let written: Promise<void> = Promise.resolve();

  function count(deviceId: number, more: number): void {
    const left = (writing.get(deviceId) ?? 0) + more;
    if (left === 0) writing.delete(deviceId);
    else writing.set(deviceId, left);
  }

  function track(work: Promise<void>): Promise<void> {
    written = written.then(() => work);
    return work;
  }

  async function write(deviceId: number, health: WebhookFailures): Promise<void> {
    const { failures, failingSince, pausedUntil } = health;
    count(deviceId, 1);
    try {
      await writer.commit([{ sql: UPDATE, args: [failures, failingSince, pausedUntil, deviceId] }]);
    } catch (err) {
      log.error({ err, device: deviceId }, "could not count a webhook's failures");
    } finally {
      count(deviceId, -1);
    }
  }

  return {
    all: async () => new Map((await read(FAILING)).map(({ deviceId, ...health }) => [deviceId, health])),
    one: (deviceId) => readOne(ONE, [deviceId]),
    write: (deviceId, health) => track(write(deviceId, health)),
    isBehind: (deviceId) => writing.has(deviceId),
    track,
    idle: () => written,
  };
}
