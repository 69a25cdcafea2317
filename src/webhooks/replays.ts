import { deliveries } from "../../drizzle/schema.ts";
import type { Place } from "../model/page.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { noListener, type Listeners } from "./listeners/listeners.ts";
import { isActive, type Target } from "./receiver.ts";
import { noWebhook, type Registry } from "./registry.ts";
import type { Deliveries, DeliveryRecord } from "./records.ts";
import { DELIVERY_STATES, type DeliveryState } from "./rows.ts";
import type { WebhookEvent } from "./webhook-event.ts";

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
   * @throws {GatewayError} NOT_FOUND when whom it was for is gone, or switched off
   */
  replay(accountId: string, id: string): Promise<DeliveryRecord | null>;
  /**
   * Oldest first, a few hundred in each commit, so that messages do not wait for it.
   *
   * @returns how many wait for their attempt now; those for a webhook or listener that is switched off, or gone, do not
   * @throws {GatewayError} NOT_FOUND when none of the numbers has one that is switched on
   */
  replayMany(filter: ReplayFilter): Promise<number>;
}

interface ReplaysDeps {
  store: Store;
  registry: Pick<Registry, "get">;
  listeners: Pick<Listeners, "of">;
  /** Whoever has the number tries this one now, even if it is paused. */
  tryNow(target: Target): void;
  find: Deliveries["find"];
  observe?: (event: WebhookEvent) => void;
}

const AT_ONCE = 200;
const GIVEN_UP: DeliveryState[] = ["dead", "disabled"];

const FIND = defineQuery(
  "select d.device_id, d.listener from deliveries d join devices v on v.id = d.device_id where d.id = ? and v.account_id = ?",
  { deviceId: deliveries.deviceId, listener: deliveries.listener },
);
const PLACE = { at: deliveries.createdAt, row: integer() };
/** Of one number, the oldest first; each state by itself, so that nothing of the others is read. */
const OF_STATES = defineQuery(
  `select d.created_at as at, d.rowid as row from json_each(?2) s cross join deliveries d where d.rowid in
    (select rowid from deliveries where device_id = ?1 and state = s.value and (created_at, rowid) > (?3, ?4)
      and created_at <= ?5 and listener in (select value from json_each(?6)) order by created_at, rowid limit ${AT_ONCE})
    order by d.created_at, d.rowid limit ${AT_ONCE}`,
  PLACE,
);
// The signs keep the planner from going by number and time instead, which may be all that a number ever had.
const OF_IDS = defineQuery(
  `select created_at as at, rowid as row from deliveries where id in (select value from json_each(?3))
    and +device_id = ?1 and +state in (select value from json_each(?2)) and +created_at >= ?4 and +created_at <= ?5
    and +listener in (select value from json_each(?6)) order by created_at, rowid`,
  PLACE,
);
const AGAIN = "update deliveries set state = 'pending', next_at = ?";
const THESE_AGAIN = `${AGAIN} where rowid in (select value from json_each(?))`;
const ONE_AGAIN = `${AGAIN} where id = ?`;

/** Puts deliveries back among those that wait; their number's queue then makes their attempts. */
export function createReplays(deps: ReplaysDeps): Replays {
  const { store, registry, listeners, tryNow, find, observe } = deps;

  /** Whom something may be posted to. */
  function receiversOf(deviceId: number): string[] {
    const all = [registry.get(deviceId), ...listeners.of(deviceId)];
    return all
      .filter((receiver) => receiver !== null && isActive(receiver))
      .map((receiver) => receiver!.listener);
  }

  return {
    async replay(accountId, id) {
      const row = await store.readOne(FIND, [id, accountId]);
      if (row === null) return null;
      const { deviceId, listener } = row;
      if (!receiversOf(deviceId).includes(listener)) throw listener === "" ? noWebhook() : noListener();
      await store.writer.commit([{ sql: ONE_AGAIN, args: [store.now(), id] }]);
      observe?.({ type: "delivery", deviceId, id });
      tryNow(row);
      return find(accountId, id);
    },

    async replayMany({ deviceIds, state, since = 0, until = store.now(), ids }) {
      const on = deviceIds.filter((deviceId) => receiversOf(deviceId).length > 0);
      if (on.length === 0 && deviceIds.length > 0) throw noWebhook();
      const states = JSON.stringify(state ? [state] : ids ? DELIVERY_STATES : GIVEN_UP);
      let total = 0;
      for (const deviceId of on) {
        const receivers = receiversOf(deviceId);
        const whose = JSON.stringify(receivers);
        for await (const page of pagesOf(deviceId, [states, since, until, whose], ids)) {
          const rows = JSON.stringify(page.map(({ row }) => row));
          await store.writer.commit([{ sql: THESE_AGAIN, args: [store.now(), rows] }]);
          for (const listener of receivers) tryNow({ deviceId, listener });
          total += page.length;
        }
      }
      return total;
    },
  };

  /** By place and not by state: what is delivered meanwhile is not found a second time. */
  async function* pagesOf(
    deviceId: number,
    [states, since, until, whose]: [states: string, since: number, until: number, whose: string],
    ids: string[] | undefined,
  ): AsyncGenerator<Place[]> {
    if (ids !== undefined) {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const some = JSON.stringify(ids.slice(from, from + AT_ONCE));
        const page = await store.read(OF_IDS, [deviceId, states, some, since, until, whose]);
        if (page.length > 0) yield page;
      }
      return;
    }
    for (let after: Place = { at: since, row: 0 }; ;) {
      const page = await store.read(OF_STATES, [deviceId, states, after.at, after.row, until, whose]);
      if (page.length > 0) yield page;
      if (page.length < AT_ONCE) return;
      after = page.at(-1)!;
    }
  }
}
