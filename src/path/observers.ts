import type { RecordedMessage } from "../inbox/inbox.ts";
import type { DeviceRecord } from "../numbers/device-record.ts";
import type { StoredMessage } from "../model/answerer.ts";
import type { DecisionRow } from "../pipeline/deps.ts";
import type { ReachoutLock } from "../whatsapp/port.ts";

/** An attempt to deliver to a webhook that has ended, as far as it is counted. */
export interface ObservedAttempt {
  result: string;
  /** Null when no answer came. */
  statusCode: number | null;
  durationMs: number;
}

/** A message that its owner has read on another device of the number. */
export interface ToldReading {
  deviceId: number;
  waId: string;
  /** Canonical chat key. */
  chat: string;
  /** Unix milliseconds. */
  at: number;
}

/**
 * What happens on the way of a message, told after the commit that made it so. Observers are called one after the other,
 * wait for nothing, and never throw.
 */
export interface PathObserver {
  /** State, QR or name of a number changed. */
  device?(record: DeviceRecord): void;
  /** WhatsApp lets a number write to nobody new; null: it does again. */
  reachout?(deviceId: number, lock: ReachoutLock | null): void;
  /** New messages are in the inbox; `known` others were there already. */
  received?(messages: readonly RecordedMessage[], known: number): void;
  /** @param tookMs since it came; null: an earlier run of the gateway has stored it */
  decided?(stored: StoredMessage, decision: DecisionRow, tookMs: number | null): void;
  /** The owner has read a message on another device of the number. */
  read?(reading: ToldReading): void;
  /** A message of ours was stored, or is in another state. */
  messageChanged?(deviceId: number, waId: string): void;
  /** What became of a message of ours is known. @param seconds since it was stored */
  messageEnded?(kind: string, result: "sent" | "failed" | "expired", seconds: number, deviceId: number): void;
  /** A delivery to a webhook is in another state. */
  deliveryChanged?(deviceId: number, id: string): void;
  deliveryAttempted?(attempt: ObservedAttempt, deviceId: number): void;
  /** A delivery is given up. */
  deliveryDead?(): void;
  /** A webhook is paused, used again, or switched off. */
  webhookTurned?(deviceId: number, to: "paused" | "ok" | "disabled"): void;
  /** An address was not asked, because it may be one of the private network. */
  addressBlocked?(reason: string): void;
  /** A message that arrived could not be decrypted. */
  undecryptable?(reason: string): void;
  /** A message or a receipt took the everyday way (null), or another for a reason. */
  way?(direction: string, reason: string | null): void;
}

/** All observers as one. */
export interface Observers extends Required<PathObserver> {
  add(observer: PathObserver): void;
}

/** No observers yet; they are told in the order in which they were added. */
export function createObservers(): Observers {
  const observers: PathObserver[] = [];
  const tell =
    <Name extends keyof PathObserver>(name: Name) =>
    (...args: Parameters<Required<PathObserver>[Name]>): void => {
      for (const observer of observers)
        (observer[name] as ((...all: unknown[]) => void) | undefined)?.(...args);
    };
  return {
    add: (observer) => void observers.push(observer),
    device: tell("device"),
    reachout: tell("reachout"),
    received: tell("received"),
    decided: tell("decided"),
    read: tell("read"),
    messageChanged: tell("messageChanged"),
    messageEnded: tell("messageEnded"),
    deliveryChanged: tell("deliveryChanged"),
    deliveryAttempted: tell("deliveryAttempted"),
    deliveryDead: tell("deliveryDead"),
    webhookTurned: tell("webhookTurned"),
    addressBlocked: tell("addressBlocked"),
    undecryptable: tell("undecryptable"),
    way: tell("way"),
  };
}
