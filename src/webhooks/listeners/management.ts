import type { DisabledReason } from "../../model/webhook-words.ts";
import type { Store } from "../../store/store.ts";
import { HEALTHY, readHealth } from "../attempts/health-row.ts";
import { healthOf } from "../health.ts";
import type { NumberWebhook } from "../parts.ts";
import type { ListenerInput, Listeners } from "./listeners.ts";
import type { Listener, ListenerRecord } from "./settings.ts";

/** What owners do with the listeners of a number. */
export interface ListenerManagement {
  /** Oldest first. */
  list(deviceId: number): Promise<ListenerRecord[]>;
  /** Why Parley has switched one of them off; null: it has switched off none. */
  switchedOff(deviceId: number): DisabledReason | null;
  /** @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED, PLAN_LIMIT */
  create(
    deviceId: number,
    settings: Parameters<Listeners["create"]>[1],
  ): Promise<{ listener: ListenerRecord; secret: string }>;
  /** Holds no failure against it any more. Null when there is none. @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED */
  change(deviceId: number, id: string, change: ListenerInput): Promise<ListenerRecord | null>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number, id: string): Promise<boolean>;
  /** Both secrets sign for 24 h. Null when there is none. */
  rotate(deviceId: number, id: string): Promise<{ listener: ListenerRecord; secret: string } | null>;
}

interface ManagementDeps {
  store: Pick<Store, "readOne">;
  listeners: Listeners;
  opened(deviceId: number): NumberWebhook | null;
}

/** Listeners with how they do: of a number that another node has, their rows tell. */
export function createListenerManagement({ store, listeners, opened }: ManagementDeps): ListenerManagement {
  async function recordOf(one: Listener): Promise<ListenerRecord> {
    const own = opened(one.deviceId)?.health(one.listener);
    return asRecord(one, own ?? (await readHealth(store, one)));
  }

  return {
    list: (deviceId) => Promise.all(listeners.of(deviceId).map(recordOf)),
    switchedOff(deviceId) {
      const off = listeners.of(deviceId).find(({ enabled, disabledReason }) => !enabled && disabledReason);
      return off?.disabledReason ?? null;
    },
    async create(deviceId, settings) {
      const made = await listeners.create(deviceId, settings);
      return { listener: asRecord(made, HEALTHY), secret: made.secret };
    },
    async change(deviceId, id, change) {
      const changed = await listeners.change(deviceId, id, change);
      if (changed === null) return null;
      const own = opened(deviceId);
      await own?.anew(id);
      // Whoever has the number hears of it, and forgets the failures then.
      return asRecord(changed, own?.health(id) ?? HEALTHY);
    },
    async remove(deviceId, id) {
      const existed = await listeners.remove({ deviceId, listener: id }, []);
      opened(deviceId)?.gone(id);
      return existed;
    },
    async rotate(deviceId, id) {
      const target = { deviceId, listener: id };
      const rotated = await listeners.rotate(target);
      const one = listeners.get(target);
      return rotated && one && { listener: await recordOf(one), secret: rotated.secret };
    },
  };
}

const asRecord = (one: Listener, health: Parameters<typeof healthOf>[1]): ListenerRecord => ({
  id: one.listener,
  url: one.url,
  events: one.events,
  chats: one.chats,
  bots: one.bots,
  headers: one.headers,
  timeoutMs: one.timeoutMs,
  enabled: one.enabled,
  health: healthOf(one, health),
});
