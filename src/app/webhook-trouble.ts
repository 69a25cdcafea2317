import { deliveries } from "../../drizzle/schema.ts";
import type { MessagePath } from "../path/path.ts";
import { defineQuery } from "../store/query.ts";
import type { Base } from "./data.ts";

/** A webhook that takes nothing. Times are Unix milliseconds. */
export interface WebhookTrouble {
  state: "failing" | "paused" | "disabled";
  /** Of the first attempt that failed; null: it was switched off at once. */
  since: number | null;
  /** When something is posted again; null: not before it is set anew. */
  nextAt: number | null;
}

/** Knows which webhooks fail, and says so once in the log. */
export interface WebhookTroubles {
  /** Null: the number has no webhook, or it takes what is posted. @throws StorageUnavailable */
  of(deviceId: number): Promise<WebhookTrouble | null>;
}

const NEXT = defineQuery(
  `SELECT next_at FROM deliveries INDEXED BY deliveries_waiting
  WHERE device_id = ? AND listener = '' AND state IN ('pending','retrying') AND next_at > 0 ORDER BY next_at LIMIT 1`,
  { nextAt: deliveries.nextAt },
);

/** Goes by what is stored: what an attempt means for its webhook is decided there. */
export function openWebhookTroubles(
  { store, log, observers }: Pick<Base, "store" | "log" | "observers">,
  { webhooks }: Pick<MessagePath, "webhooks">,
): WebhookTroubles {
  /** Of which the log knows. */
  const told = new Set<number>();

  async function of(deviceId: number): Promise<WebhookTrouble | null> {
    const health = (await webhooks.get(deviceId))?.health;
    if (health === undefined || health.state === "ok") return null;
    const { state, failingSince: since } = health;
    // Its owner may have switched it off: that is no trouble.
    if (state === "disabled") return health.reason === null ? null : { state, since, nextAt: null };
    if (state === "paused") return { state, since, nextAt: health.pausedUntil };
    return { state, since, nextAt: (await store.readOne(NEXT, [deviceId]))?.nextAt ?? null };
  }

  async function warn(deviceId: number): Promise<void> {
    const trouble = await of(deviceId);
    if (trouble === null || trouble.state === "disabled") return;
    const next = trouble.nextAt === null ? null : new Date(trouble.nextAt).toISOString();
    log.warn({ device: deviceId, next }, "the webhook failed; its events are kept and tried again");
  }

  function look(deviceId: number): void {
    const isWell = (webhooks.healthHere(deviceId)?.state ?? "ok") === "ok";
    if (isWell === !told.has(deviceId)) return;
    if (isWell) {
      told.delete(deviceId);
      return log.info({ device: deviceId }, "the webhook takes events again");
    }
    told.add(deviceId);
    warn(deviceId).catch((err: unknown) =>
      log.debug({ err, device: deviceId }, "could not look at the webhook"),
    );
  }

  const lookAt = ({ deviceId }: { deviceId: number }): void => look(deviceId);
  observers.add({ decided: lookAt, delivery: lookAt });
  return { of };
}
