import type { Logger } from "pino";
import type { Store } from "../store/store.ts";
import type { SendOutcome } from "../whatsapp/port.ts";
import type { RateLimitBackoff } from "./backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Endings } from "./endings.ts";
import type { Reachout } from "./reachout.ts";
import type { Rows, SendError } from "./rows.ts";
import type { NextStep } from "./sender.ts";

interface OutcomeHandlerDeps {
  store: Pick<Store, "writer">;
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

/** One handler for all numbers. */
export function createOutcomeHandler(deps: OutcomeHandlerDeps): OutcomeHandler {
  const { store, rows, reachout, backoff, endings, log } = deps;

  async function refused(
    message: QueuedMessage,
    outcome: SendOutcome & { kind: "refused" },
  ): Promise<NextStep> {
    backoff.accepted(message.deviceId);
    log.warn(
      { device: message.deviceId, message: message.waId, code: outcome.code, reason: outcome.reason },
      "WhatsApp refused a message",
    );
    if (outcome.code === STALE_ADDRESSING && !message.retried) {
      message.retried = true;
      return "again";
    }
    if (outcome.code === REACHOUT_LOCKED) {
      await reachout
        .lock(message.deviceId, outcome.until)
        .catch((error: Error) => log.error({ error: error.name }, "a reach-out lock could not be stored"));
      await endings.failed(message, reachout.error(message.deviceId));
    } else {
      await endings.failed(message, refusalError(outcome));
    }
    return "done";
  }

  async function unacknowledged(message: QueuedMessage, reason: string): Promise<NextStep> {
    log.info(
      { device: message.deviceId, message: message.waId, attempts: message.attempts, reason },
      "no acknowledgement; the message is sent again under the same id",
    );
    await store.writer
      .commit([rows.attempted(message.id, message.attempts)])
      .catch(() => log.warn("the number of attempts could not be stored"));
    return "later";
  }

  return async (message, outcome) => {
    message.attempts++;
    if (outcome.kind === "sent") backoff.accepted(message.deviceId);
    // Whoever has received it has it, whatever came of sending it once more.
    if (outcome.kind === "sent" || message.confirmed) {
      await endings.sent(message);
      return "done";
    }
    if (outcome.kind === "refused") return refused(message, outcome);
    if (outcome.kind === "unknown") return unacknowledged(message, outcome.reason);
    await backoff.limited(message.deviceId);
    return "again";
  };
}

function refusalError({ code, reason }: SendOutcome & { kind: "refused" }): SendError {
  if (reason === "not_on_whatsapp") return { code: "NOT_ON_WHATSAPP" };
  if (reason === "file_gone")
    return { code: "FILE_UNREACHABLE", message: "The gateway does not keep this file any more." };
  return { code: "WHATSAPP_REFUSED", ...(code === 0 ? {} : { whatsapp_code: code }) };
}
