import type { SendOutcome } from "../port.ts";
import { NothingEncrypted } from "./direct-message.ts";

const RATE_OVERLIMIT = 429;
/** Server errors between 400 and 499 that pass. */
const PASSING = new Set([408, 428]);

/** WhatsApp wants to be asked less often. */
export const LIMITED: SendOutcome = {
  kind: "limited",
  reason: "WhatsApp limits how often it may be asked (429).",
};

/** All that the recipient has was asked about, and none of it has keys. */
export const NO_KEYS: SendOutcome = {
  kind: "refused",
  code: 0,
  reason: "No device of the recipient has keys that it could be encrypted for.",
};

/**
 * What an error before the message was written means. Refused is only what the server itself has said no to: its code
 * stands in `data` of a Boom error. Everything else, whatever status Baileys or a database gives it, may pass.
 */
export function outcomeOf(error: unknown): SendOutcome {
  if (error instanceof NothingEncrypted) return { kind: "unknown", reason: error.message };
  const { message = String(error), data: code } = error as { message?: string; data?: unknown };
  if (code === RATE_OVERLIMIT) return LIMITED;
  const final = typeof code === "number" && code >= 400 && code < 500 && !PASSING.has(code);
  return final ? { kind: "refused", code, reason: message } : { kind: "unknown", reason: message };
}
