import type { Store } from "../store/store.ts";
import type { Breakers } from "./breaker.ts";
import { isActive, noWebhook, type Registry } from "./registry.ts";
import type { Deliveries, DeliveryRecord } from "./records.ts";
import type { DeliveryState } from "./rows.ts";
import type { RetryWorker } from "./worker.ts";

/** Which deliveries are to be posted again; what is left out does not matter. */
export interface ReplayFilter {
  /** Device records whose deliveries are meant. */
  deviceIds: number[];
  /** Default: what was given up, `dead` and `disabled`; with `ids` any. */
  state?: DeliveryState;
  /** When the event was first due, Unix milliseconds, both inclusive. */
  since?: number;
  until?: number;
  ids?: string[];
}

/**
 * Further attempts that somebody asks for. Each is made under the same `webhook-id`, and a reply is sent only when none
 * was sent for the event before. Asking again while they wait adds nothing.
 */
export interface Replays {
  /**
   * @returns the record as it stands now, null when the account has no such delivery
   * @throws {GatewayError} NOT_FOUND when the number has no webhook that is switched on
   */
  replay(accountId: string, id: string): Promise<DeliveryRecord | null>;
  /**
   * Oldest first, a few hundred in each commit, so that messages do not wait for it.
   *
   * @returns how many wait for their attempt now; deliveries of numbers without a webhook that is switched on do not
   * @throws {GatewayError} NOT_FOUND when none of the numbers has one
   */
  replayMany(filter: ReplayFilter): Promise<number>;
}

export interface ReplaysDeps {
  store: Store;
  registry: Pick<Registry, "get">;
  breakers: Pick<Breakers, "tryNow">;
  worker: Pick<RetryWorker, "wake">;
  find: Deliveries["find"];
  /** A delivery is in another state; called after the commit. */
  onDelivery?: (deviceId: number, id: string) => void;
}

const AT_ONCE = 200;
const GIVEN_UP: DeliveryState[] = ["dead", "disabled"];

const FIND = `select d.device_id from deliveries d join devices v on v.id = d.device_id
  where d.id = ? and v.account_id = ?`;
const MATCHES = `device_id in (select value from json_each(?)) and created_at >= ? and created_at <= ?
  and (? is null or state in (select value from json_each(?)))
  and (? is null or id in (select value from json_each(?)))`;
const SELECT = `select rowid as place from deliveries where rowid > ? and rowid <= ? and ${MATCHES} order by rowid limit ${AT_ONCE}`;
const AGAIN =
  "update deliveries set state = 'pending', next_at = ? where rowid in (select value from json_each(?))";

export function createReplays({ store, registry, breakers, worker, find, onDelivery }: ReplaysDeps): Replays {
  function isOn(deviceId: number): boolean {
    const webhook = registry.get(deviceId);
    return webhook !== null && isActive(webhook);
  }

  /** Who asks for it says that it is worth a try now. */
  function begin(deviceIds: number[]): void {
    for (const deviceId of deviceIds) breakers.tryNow(deviceId);
    worker.wake();
  }

  return {
    async replay(accountId, id) {
      const [row] = await store.rows(FIND, [id, accountId]);
      if (row === undefined) return null;
      const deviceId = Number(row.device_id);
      if (!isOn(deviceId)) throw noWebhook();
      const sql = "update deliveries set state = 'pending', next_at = ? where id = ?";
      await store.writer.commit([{ sql, args: [store.now(), id] }]);
      onDelivery?.(deviceId, id);
      begin([deviceId]);
      return find(accountId, id);
    },

    async replayMany({ deviceIds, state, since, until, ids }) {
      const on = deviceIds.filter(isOn);
      if (on.length === 0 && deviceIds.length > 0) throw noWebhook();
      const states = state ? JSON.stringify([state]) : ids ? null : JSON.stringify(GIVEN_UP);
      const wanted = ids ? JSON.stringify(ids) : null;
      const [end] = await store.rows("select max(rowid) as place from deliveries", []);
      const matches = [JSON.stringify(on), since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
      const args = [Number(end?.place ?? 0), ...matches, states, states, wanted, wanted];
      let total = 0;
      // By place and not by state: what is delivered meanwhile is not found a second time.
      for (let after = 0; ;) {
        const rows = await store.rows(SELECT, [after, ...args]);
        if (rows.length === 0) break;
        const places = rows.map((row) => Number(row.place));
        after = places.at(-1)!;
        await store.writer.commit([{ sql: AGAIN, args: [store.now(), JSON.stringify(places)] }]);
        if (total === 0) begin(on);
        total += rows.length;
      }
      if (total > 0) begin(on);
      return total;
    },
  };
}
