import type { Statement, Store } from "../../store/store.ts";
import { inStep, traceOf } from "../../model/spans.ts";
import { ConstraintViolation } from "../../store/errors.ts";
import type { Breakers } from "./breaker.ts";
import type { Claims } from "./claims.ts";
import { progressAfter, type Attempt, type Deliverer } from "./deliver.ts";
import { postedBody, type EventFiles } from "../events/files.ts";
import type { LateReplies } from "../replies/late-replies.ts";
import { isActive, type Registry } from "../registry.ts";
import { insertAttempt, updateDelivery, type Delivery, type Progress } from "../rows.ts";
import type { Webhook } from "../settings.ts";
import { switchOffAfter, type SwitchedOff } from "../switch-off.ts";
import { goesItsOwnWay, releaseNext } from "./waiting.ts";
import type { Logger } from "../../log.ts";

/** What making attempts outside of a lane takes. */
export interface AttemptsDeps {
  store: Store;
  log: Logger;
  registry: Registry;
  breakers: Breakers;
  deliverer: Deliverer;
  files: EventFiles;
  lateReplies: LateReplies;
  random: () => number;
  /** Unix milliseconds, by a clock that all who look at the same rows share. */
  now: () => number;
  /** Null: nobody else makes attempts. */
  claims: Claims | null;
  /** A delivery is in another state; called after the commit. */
  onDelivery?: (deviceId: number, id: string) => void;
  /** A delivery is given up. */
  onDead?: () => void;
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
  const { store, log, registry, breakers, deliverer, files, lateReplies, claims, now } = deps;
  const { writer, box } = store;

  async function make(delivery: Delivery, probe: Probe | null): Promise<number | null> {
    const webhook = registry.get(delivery.deviceId);
    if (webhook === null || !isActive(webhook)) return end(delivery, webhook?.url ?? "");
    const body = await postedBody(files, delivery);
    const attributes = { "parley.attempt": delivery.attempts + 1 };
    const made = await inStep("retry delivery", { parent: traceOf(delivery.inboxId), attributes }, () =>
      deliverer.attempt(webhook, delivery.id, body),
    );
    const switchedOff = switchOffAfter(deps, webhook, made, probe ? "probe" : undefined);
    if (probe?.ahead && made.result !== "accepted" && switchedOff === null) return null;
    return record(delivery, made, webhook, switchedOff);
  }

  async function end(delivery: Delivery, url: string): Promise<null> {
    // What is known here of the webhook may be older than its row: who looks at the number looks there as well.
    if (claims !== null) return null;
    await writer.commit([updateDelivery(box, delivery, url, { state: "disabled", nextAt: null })]);
    deps.onDelivery?.(delivery.deviceId, delivery.id);
    return null;
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
      ...letGo(after, progress.state),
    ];
    const results = await commit(delivery, [...own, ...statements]);
    if (results === null) return null;
    deps.onDelivery?.(delivery.deviceId, delivery.id);
    if (progress.state === "dead") deps.onDead?.();
    await committed(results.slice(own.length));
    return progress.nextAt;
  }

  /** @returns null when the delivery is another process's: what came of this attempt is its to find out */
  async function commit({ id, deviceId }: Delivery, statements: Statement[]) {
    if (claims === null) return writer.commit(statements);
    const guard = claims.ending(id);
    try {
      const results = await writer.commit([...guard, ...statements], { owning: null });
      claims.ended(id);
      return results.slice(guard.length);
    } catch (error) {
      if (!(error instanceof ConstraintViolation) || error.statement >= guard.length) throw error;
      claims.ended(id);
      log.warn(
        { err: error, device: deviceId, delivery: id },
        "another node is making this delivery's attempt now; the result of this attempt is dropped",
      );
      return null;
    }
  }

  /** What is held behind a delivery may go, unless the webhook is away and both wait for it. */
  function letGo(delivery: Delivery, state: Progress["state"]): Statement[] {
    const waits = state === "retrying" && !goesItsOwnWay(delivery.attempts);
    return waits && breakers.isOpen(delivery.deviceId) ? [] : [releaseNext(delivery, now())];
  }

  return { make };
}
