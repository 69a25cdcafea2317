import type { Statement, Store } from "../../store/store.ts";
import { inStep, traceOf } from "../../model/spans.ts";
import type { Breaker } from "./breaker.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import { postedBody, type EventFiles } from "../events/files.ts";
import type { LateReplies } from "../replies/late-replies.ts";
import { isActive, type Registry } from "../registry.ts";
import { insertAttempt, updateDelivery, type Delivery, type Progress } from "../rows.ts";
import type { Webhook } from "../settings.ts";
import { switchOffAfter, type SwitchedOff } from "../switch-off.ts";
import { mayBeOvertaken, releaseNext } from "./waiting.ts";
import type { Logger } from "../../log.ts";
import type { WebhookEvent } from "../webhook-event.ts";

/** What making attempts outside of a lane takes. */
export interface AttemptsDeps {
  /** In the hands of whoever has the number. */
  store: Store;
  log: Logger;
  registry: Registry;
  breaker: Breaker;
  deliverer: Deliverer;
  files: EventFiles;
  lateReplies: LateReplies;
  random: () => number;
  /** Unix milliseconds. */
  now: () => number;
  observe?: ((event: WebhookEvent) => void) | undefined;
  /** The webhook was switched off. */
  onDisabled?: (deviceId: number) => void;
}

/** An attempt that tries whether the webhook is back. */
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

/** Attempts outside of lanes: retries, replays, notices, and what waited for a breaker. */
export function createAttempts(deps: AttemptsDeps): Attempts {
  const { store, registry, breaker, deliverer, files, lateReplies, now } = deps;
  const { writer, box } = store;

  async function make(delivery: Delivery, probe: Probe | null): Promise<number | null> {
    const webhook = registry.get(delivery.deviceId);
    // The queue's next look ends what waits, unless the row says otherwise by then.
    if (webhook === null || !isActive(webhook)) return null;
    const body = await postedBody(files, delivery);
    const attributes = { "parley.attempt": delivery.attempts + 1 };
    const made = await inStep("retry delivery", { parent: traceOf(delivery.inboxId), attributes }, () =>
      deliverer.attempt(webhook, delivery.id, body),
    );
    const switchedOff = switchOffAfter(deps, webhook, made, probe ? "probe" : undefined);
    if (probe?.ahead && made.result !== "accepted" && switchedOff === null) return null;
    return record(delivery, made, webhook, switchedOff);
  }

  /** Commits what came of an attempt, and what follows from it. */
  async function record(
    delivery: Delivery,
    made: Attempt,
    webhook: Webhook,
    switchedOff: SwitchedOff | null,
  ): Promise<number | null> {
    const number = delivery.attempts + 1;
    const effects = switchedOff
      ? { ...switchedOff, reply: null }
      : await lateReplies.to(delivery, made, webhook);
    const { statements, reply, committed } = effects;
    const progress = progressAfter(made, number, now(), deps.random);
    const after: Delivery = { ...delivery, attempts: number, reply: reply ?? delivery.reply };
    const own = [
      updateDelivery(box, after, webhook.url, progress),
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

  /** What is held behind a delivery may go, unless the webhook is away and both wait for it. */
  function releaseHeld(delivery: Delivery, state: Progress["state"]): Statement[] {
    const waits = state === "retrying" && !mayBeOvertaken(delivery.attempts);
    return waits && breaker.isOpen() ? [] : [releaseNext(delivery, now())];
  }

  return { make };
}
