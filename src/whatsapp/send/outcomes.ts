import { StorageUnavailable } from "../../store/errors.ts";
import { RateOverlimit, type SendOutcome } from "../port.ts";
import { NothingEncrypted } from "./direct-message.ts";
import { Unanswered } from "../devices/unanswered.ts";

const RATE_OVERLIMIT = 429;
const TIMED_OUT = 408;
/** Server errors between 400 and 499 that pass. */
const PASSING = new Set([408, 428]);

/** WhatsApp wants to be asked less often. */
export const LIMITED: SendOutcome = {
  kind: "limited",
  reason: "WhatsApp limits how often it may be queried (429).",
};

/** All that the recipient has was asked about, and none of it has keys. */
export const NO_KEYS: SendOutcome = {
  kind: "refused",
  code: 0,
  reason: "No device of the recipient has keys for encryption.",
};

/**
 * What an error before the message was written means. Refused is only what the server itself has said no to: its code
 * stands in `data` of a Boom error. Everything else, whatever status Baileys or a database gives it, may pass.
 */
export function outcomeOf(error: unknown): SendOutcome {
  const {
    message: reason = String(error),
    data: code,
    output,
  } = Object(error) as { message?: string; data?: unknown; output?: { statusCode?: unknown } };
  if (error instanceof NothingEncrypted || error instanceof Unanswered) return { kind: "unknown", reason };
  if (error instanceof StorageUnavailable) return { kind: "unknown", reason, blame: "line" };
  if (code === RATE_OVERLIMIT || error instanceof RateOverlimit) return LIMITED;
  if (typeof code === "number") {
    const final = code >= 400 && code < 500 && !PASSING.has(code);
    if (final)
      return {
        kind: "refused",
        code,
        reason: `WhatsApp refused data that the message needs, with error ${code}.`,
      };
    return { kind: "unknown", reason: `WhatsApp answered a query with error ${code}.`, code };
  }
  // The library's own words for silence; that the connection closed is seen by whether it is open.
  if (output?.statusCode === TIMED_OUT)
    return { kind: "unknown", reason: "WhatsApp did not answer a query in time." };
  return { kind: "unknown", reason, blame: "gateway" };
}
