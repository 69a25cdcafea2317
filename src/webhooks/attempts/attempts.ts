import type { Statement, Store } from "../../store/store.ts";
import { inStep, traceOf } from "../../model/spans.ts";
import type { Breaker } from "./breaker.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import { postedBody, type EventFiles } from "../events/files.ts";
import type { Effects, LateReplies } from "../replies/late-replies.ts";
import { isActive, type Receiver } from "../receiver.ts";
import type { ReceiverAtHand } from "../receivers.ts";
import { insertAttempt, updateDelivery, type Delivery, type Progress } from "../rows.ts";
import { switchOffAfter, type SwitchedOff } from "../switch-off.ts";
import { mayBeOvertaken, releaseNext } from "./waiting.ts";
import type { Logger } from "../../log.ts";
import type { WebhookEvent } from "../webhook-event.ts";

/** What making attempts outside of a lane takes. */
export interface AttemptsDeps {
  /** In the hands of whoever has the number. */
  store: Store;
  log: Logger;
  receiver: ReceiverAtHand<Receiver>;
  breaker: Breaker;
  deliverer: Deliverer;
  files: EventFiles;
  /** What follows from an answer beside its record; null: nothing does. */
  replies: LateReplies | null;
  random: () => number;
  /** Unix milliseconds. */
  now: () => number;
  observe?: ((event: WebhookEvent) => void) | undefined;
  /** The receiver was switched off. */
  onDisabled?: () => void;
}

/** An attempt that tries whether the receiver is back. */
export interface Probe {
  /** The delivery's own time has not come: it is as before when the attempt fails. */
  ahead: boolean;
}

/** Makes one attempt, and keeps what came of it. */
export interface Attempts {
  /**
   * @returns when its number is to be looked at for another one, Unix milliseconds; null: not for this
   * @throws StorageUnavailable, and the reason of what stops the gateway: then the attempt does not count
   */
  make(delivery: Delivery, probe: Probe | null): Promise<number | null>;
}

const NOTHING: Effects = { statements: [], reply: null, committed: () => undefined };

/** Attempts outside of lanes: retries, replays, notices, and what waited for a breaker. */
export function createAttempts(deps: AttemptsDeps): Attempts {
  const { store, receiver, breaker, deliverer, files, replies, now } = deps;
  const { writer, box } = store;

  async function make(delivery: Delivery, probe: Probe | null): Promise<number | null> {
    const asked = receiver.get();
    // The queue's next look ends what waits, unless the row says otherwise by then.
    if (asked === null || !isActive(asked)) return null;
    const body = await postedBody(files, delivery);
    const attributes = { "parley.attempt": delivery.attempts + 1 };
    const made = await inStep("retry delivery", { parent: traceOf(delivery.inboxId), attributes }, () =>
      deliverer.attempt(asked, delivery.id, body),
    );
    const switchedOff = switchOffAfter(deps, asked, made, probe ? "probe" : undefined);
    if (probe?.ahead && made.result !== "accepted" && switchedOff === null) return null;
    return record(delivery, made, asked.url, switchedOff);
  }

  /** Commits what came of an attempt, and what follows from it. */
  async function record(
    delivery: Delivery,
    made: Attempt,
    url: string,
    switchedOff: SwitchedOff | null,
  ): Promise<number | null> {
    const number = delivery.attempts + 1;
    const effects = switchedOff
      ? { ...switchedOff, reply: null }
      : ((await replies?.to(delivery, made)) ?? NOTHING);
    const { statements, reply, committed } = effects;
    const progress = progressAfter(made, number, now(), deps.random);
    const after: Delivery = { ...delivery, attempts: number, reply: reply ?? delivery.reply };
    const own = [
      updateDelivery(box, after, url, progress),
      insertAttempt(box, delivery.id, number, made),
      ...releaseHeld(after, progress.state),
    ];
    const results = await writer.commit([...own, ...statements], { owning: delivery.deviceId });
    const { deviceId, id } = delivery;
    deps.observe?.({ type: "delivery", deviceId, id });
    if (progress.state === "dead") deps.observe?.({ type: "deliveryDead", deviceId });
    await committed(results.slice(own.length));
    return progress.nextAt;
  }

  /** What is held behind a delivery may go, unless the receiver is away and both wait for it. */
  function releaseHeld(delivery: Delivery, state: Progress["state"]): Statement[] {
    const waits = state === "retrying" && !mayBeOvertaken(delivery.attempts);
    return waits && breaker.isOpen() ? [] : [releaseNext(delivery, now())];
  }

  return { make };
}
