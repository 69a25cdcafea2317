import { giveWay } from "../model/give-way.ts";
import type { Store } from "../store/store.ts";
import {
  conditionsOf,
  deviceOfKey,
  keyOf,
  OF_A_NUMBER,
  overText,
  type ReceiverOff,
  type WatchedNumber,
} from "./conditions.ts";
import type { Ledger } from "./ledger.ts";

/** What is known of all numbers, whichever process has them. */
export interface WatchedNumbers {
  all(): readonly WatchedNumber[];
  get(deviceId: number): WatchedNumber | null;
  /** One sentence: what to do about its state. */
  advice(deviceId: number): string | null;
  /** Why Parley has switched its webhook off. */
  webhookOff(deviceId: number): ReceiverOff;
  /** The same of its listeners: of the first that is off. */
  listenerOff(deviceId: number): ReceiverOff;
}

/** Compares what holds with what is remembered. */
export interface Watch {
  /** All numbers, some at a time. */
  look(): Promise<void>;
  /** One of them, at once: something of it has changed. */
  lookAt(deviceId: number): Promise<void>;
  /** Another process may have written what is remembered: it is read again before the next look. */
  reread(): void;
}

const AT_ONCE = 500;

/** By what holds now and not by what has happened: a start, and another process that takes over, find the same. */
export function createWatch(
  numbers: WatchedNumbers,
  ledger: Pick<Ledger, "keys" | "raise" | "clear">,
  { now }: Pick<Store, "now">,
): Watch {
  let keys: Promise<Set<string>> | null = null;
  /** One after the other: two looks at once would write the same twice. */
  let turn: Promise<void> = Promise.resolve();

  const known = (): Promise<Set<string>> =>
    (keys ??= ledger.keys().catch((error: unknown) => {
      keys = null;
      throw error;
    }));

  async function compare(device: WatchedNumber, open: Set<string>): Promise<void> {
    const holds = conditionsOf(device, {
      webhook: numbers.webhookOff(device.id),
      listener: numbers.listenerOff(device.id),
      now: now(),
      isOpen: (key) => open.has(key),
      advice: () => numbers.advice(device.id),
    });
    for (const [key, condition] of holds) {
      if (open.has(key)) continue;
      await ledger.raise(key, condition);
      open.add(key);
    }
    for (const what of OF_A_NUMBER) {
      const key = keyOf(what, device.id);
      if (open.has(key) && !holds.has(key)) await end(key, device, open);
    }
  }

  async function end(key: string, device: WatchedNumber | null, open: Set<string>): Promise<void> {
    await ledger.clear(key, now(), overText(key, device));
    open.delete(key);
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  return {
    reread: () => void (keys = null),

    look: () =>
      inTurn(async () => {
        const open = await known();
        const all = numbers.all();
        for (let from = 0; from < all.length; from += AT_ONCE, await giveWay())
          for (const device of all.slice(from, from + AT_ONCE)) await compare(device, open);
        for (const key of open) {
          const id = deviceOfKey(key);
          if (id !== null && numbers.get(id) === null) await end(key, null, open);
        }
      }),

    lookAt: (deviceId) =>
      inTurn(async () => {
        const device = numbers.get(deviceId);
        if (device !== null) await compare(device, await known());
      }),
  };
}
