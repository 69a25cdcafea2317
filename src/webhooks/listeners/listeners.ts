import { counted } from "../../model/errors/error-sentences.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { defineTopic } from "../../model/nodes/cluster.ts";
import { randomHex } from "../events/sample-event.ts";
import { createSecret } from "../events/sign.ts";
import { createReceivers, type Receivers, type ReceiverSet, type RegistryDeps } from "../receivers.ts";
import { readAddress } from "../settings.ts";
import { insertListener, listenerTable } from "./rows.ts";
import { MOST_LISTENERS, type Listener, type ListenerSettings } from "./settings.ts";

const SET = defineTopic<ReceiverSet>("listeners");

/** Settings of a listener; what is left out has its default, or stays. */
export type ListenerInput = Partial<ListenerSettings>;

/** Listeners of all numbers, in memory and in the database. */
export interface Listeners extends Pick<
  Receivers<Listener>,
  "load" | "get" | "of" | "atHand" | "forget" | "rotate" | "remove"
> {
  /**
   * @returns it with its secret
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED, PLAN_LIMIT
   */
  create(deviceId: number, settings: Omit<ListenerSettings, "timeoutMs"> & ListenerInput): Promise<Listener>;
  /** Null when there is none. @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED */
  change(deviceId: number, id: string, change: ListenerInput): Promise<Listener | null>;
}

/** The refusal of what only a listener that is switched on can do. */
export const noListener = (): GatewayError =>
  new GatewayError("NOT_FOUND", "The listener that this was for has been removed, or is switched off.");

/** The numbers' listeners: rows in `listeners`, all of them in memory. */
export function createListeners(deps: RegistryDeps): Listeners {
  const { store, config, checkUrl } = deps;
  const receivers = createReceivers<Listener>({ ...deps, topic: SET, table: listenerTable(store) });

  return {
    load: receivers.load,
    get: receivers.get,
    of: receivers.of,
    atHand: receivers.atHand,
    forget: receivers.forget,
    rotate: receivers.rotate,
    remove: receivers.remove,

    async create(deviceId, settings) {
      const address = readAddress(settings);
      await checkUrl(address.url);
      const listener: Listener = {
        timeoutMs: config.webhookTimeoutMs,
        ...settings,
        ...address,
        deviceId,
        listener: `lst_${randomHex()}`,
        disabledReason: null,
        secret: createSecret(),
        oldSecrets: [],
        oldSecretUntil: null,
        createdAt: store.now(),
      };
      if (await receivers.save(listener, true, insertListener(listener, store))) return listener;
      throw new GatewayError(
        "PLAN_LIMIT",
        `A number has at most ${counted(MOST_LISTENERS, "listener")} beside its webhook. Remove one first.`,
        { extra: { limit: MOST_LISTENERS } },
      );
    },

    async change(deviceId, id, change) {
      const before = await receivers.current({ deviceId, listener: id });
      if (before === null) return null;
      const address = readAddress({ ...before, ...change });
      if (address.url !== before.url) await checkUrl(address.url);
      const listener: Listener = {
        ...before,
        ...change,
        ...address,
        ...(change.enabled !== undefined && { disabledReason: null }),
      };
      return (await receivers.save(listener, true)) ? listener : null;
    },
  };
}
