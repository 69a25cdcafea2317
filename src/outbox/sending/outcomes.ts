import type { Logger } from "../../log.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Store } from "../../store/store.ts";
import type { SendOutcome } from "../../whatsapp/port.ts";
import type { RateLimitBackoff } from "./holdups/backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Endings } from "./endings.ts";
import { createUndeliverableWatch, givenUp, type FailedAttempt } from "./undeliverable.ts";
import type { Reachout } from "./holdups/reachout.ts";
import type { Rows, SendError } from "../rows.ts";
import type { NextStep } from "./attempt.ts";

interface OutcomeHandlerDeps {
  store: Pick<Store, "writer" | "now">;
  rows: Rows;
  reachout: Reachout;
  backoff: RateLimitBackoff;
  endings: Endings;
  log: Logger;
}

/** Decides what the outcome of an attempt means for the message and for its number. Does not reject. */
export type OutcomeHandler = (message: QueuedMessage, outcome: SendOutcome) => Promise<NextStep>;

const REACHOUT_LOCKED = 463;
const STALE_ADDRESSING = 479;

/** The handler of one number. */
export function createOutcomeHandler(deps: OutcomeHandlerDeps): OutcomeHandler {
  const { store, rows, reachout, backoff, endings, log } = deps;
  const undeliverable = createUndeliverableWatch(store.now);

  async function refused(
    message: QueuedMessage,
    outcome: SendOutcome & { kind: "refused" },
  ): Promise<NextStep> {
    backoff.accepted();
    log.warn(
      { device: message.deviceId, message: message.waId, code: outcome.code, reason: outcome.reason },
      "WhatsApp refused a message",
    );
    if (outcome.code === STALE_ADDRESSING && !message.retried) {
      message.retried = true;
      return "again";
    }
    if (outcome.code === REACHOUT_LOCKED) {
      await reachout.lock(outcome.until, outcome.lockedFor).catch((error: unknown) => {
        if (isWorthLogging(error))
          log.error({ err: error, device: message.deviceId }, "could not store a reach-out lock");
      });
      await endings.failed(message, reachout.error());
    } else {
      await endings.failed(message, refusalError(outcome));
    }
    return "done";
  }

  /** No acknowledgement: it is sent again under the same id, unless it has shown that it never will be taken. */
  async function unacknowledged(message: QueuedMessage, outcome: FailedAttempt): Promise<NextStep> {
    const { deviceId: device, waId, attempts } = message;
    const { reason } = outcome;
    undeliverable.failed(message, outcome);
    if (undeliverable.isUndeliverable(message)) {
      log.error({ device, message: waId, attempts, reason }, "giving up a message; its chat continues");
      await endings.failed(message, givenUp(message, outcome, store.now()));
      return "done";
    }
    log.info(
      { device, message: waId, attempts, reason },
      "no ack; sending the message again under the same id",
    );
    await store.writer.commit([rows.attempted(message)], { owning: device }).catch((error: unknown) => {
      if (isWorthLogging(error)) log.warn({ err: error, device }, "could not store the number of attempts");
    });
    return "later";
  }

  /** The number is held back; a message that alone is limited waits by itself, or it would hold back all others for ever. */
  async function limited(
    message: QueuedMessage,
    outcome: SendOutcome & { kind: "limited" },
  ): Promise<NextStep> {
    await backoff.limited(outcome.waitMs);
    if (undeliverable.isAlone(message)) return unacknowledged(message, outcome);
    undeliverable.failed(message, outcome);
    return "again";
  }

  return async (message, outcome) => {
    message.attempts++;
    noteMedia(message, outcome, store.now());
    if (outcome.kind === "sent") {
      backoff.accepted();
      undeliverable.acknowledged();
    }
    // Whoever has received it has it, whatever came of sending it once more.
    if (outcome.kind === "sent" || message.confirmed) {
      await endings.sent(message);
      return "done";
    }
    if (outcome.kind === "refused") return refused(message, outcome);
    return outcome.kind === "unknown" ? unacknowledged(message, outcome) : limited(message, outcome);
  };
}

function refusalError({ code, reason, error }: SendOutcome & { kind: "refused" }): SendError {
  if (error !== undefined) return { code: error, message: reason };
  if (reason === "not_on_whatsapp") return { code: "NOT_ON_WHATSAPP" };
  if (reason === "not_member") return { code: "CANNOT_SEND", reason };
  if (reason === "file_gone")
    return { code: "FILE_UNREACHABLE", message: "The gateway no longer has this file." };
  return { code: "WHATSAPP_REFUSED", message: reason, ...(code === 0 ? {} : { whatsapp_code: code }) };
}

function noteMedia(message: QueuedMessage, outcome: SendOutcome, now: number): void {
  message.waitsForMedia =
    outcome.kind === "unknown" && outcome.blame === "media"
      ? { since: message.waitsForMedia?.since ?? now, reason: outcome.reason }
      : null;
}
