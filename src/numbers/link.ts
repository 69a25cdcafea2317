import { PASSKEY_WANTED } from "../model/passkey.ts";
import type { Closed, Complaint } from "../whatsapp/port.ts";

/** States of a number, as the API tells them. */
export const LINK_STATES = [
  /** No phone has it linked. */
  "unlinked",
  /** A QR or a code waits to be used. */
  "linking",
  /** Linked, on its way to WhatsApp. */
  "connecting",
  "connected",
  /** The phone or WhatsApp removed this companion. */
  "logged_out",
  /** WhatsApp refuses the account. */
  "blocked",
  /** Another program uses the same credentials. */
  "replaced",
  /** Nothing goes on until somebody does what the advice says. */
  "action_required",
] as const;
/** The state of a number as `GET /devices` shows it. */
export type LinkState = (typeof LINK_STATES)[number];

/** The last closed connection as a record keeps it; times are Unix milliseconds. */
export interface LastClose {
  code: number;
  reason: string;
  at: number;
  /** The end of a ban, when WhatsApp has named one. */
  until?: number;
  complaint?: Complaint;
}

/** What follows from a closed connection. */
interface AfterClose {
  state: LinkState;
  /** Milliseconds until the next attempt; null: none by itself. */
  retryInMs: number | null;
  /** The credentials are worth nothing any more. */
  erase: boolean;
}

/** What the reaction to a closed connection depends on. */
interface LinkFacts {
  /** A phone has accepted the credentials. */
  linked: boolean;
  /** Attempts since the last stable connection, this one not counted; few of a line that opens again and again. */
  attempt: number;
  /** Between 0 and 1. */
  random: number;
  /** WhatsApp, or the network, has closed a connection that was open. Default false. */
  wasOpen?: boolean;
  /** Another process had the number lately, and may not know yet that it has it no longer. Default false. */
  contested?: boolean;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Of a line that was open: nothing speaks against the next one. With the login it is back within five seconds. */
const LONGEST_AFTER_OPEN_MS = 3_000;
/** Nobody waits less: a server that refuses at once must not be asked in a circle. */
const SHORTEST_WAIT_MS = 200;
const REFUSED_VERSION_WAIT_MS = 10 * 60_000;
/** The service knows no such client as this one says to be. */
const BAD_USER_AGENT = 409;
const QR_USED_UP = /QR refs/;

const ended = (state: LinkState): AfterClose => ({ state, retryInMs: null, erase: false });

/**
 * The reaction to each way in which a connection can end. Codes are those of Baileys' `DisconnectReason`, or WhatsApp's own.
 */
export function afterClose({ code, reason, bannedForMs }: Closed, facts: LinkFacts): AfterClose {
  const { linked, wasOpen = false } = facts;
  if (!linked && reason === PASSKEY_WANTED) return ended("action_required");
  const again = (retryInMs: number): AfterClose => ({
    state: linked ? "connecting" : "linking",
    retryInMs,
    erase: false,
  });
  switch (code) {
    // Asked for after linking, and when WhatsApp restarts a server.
    case 515:
      return again(0);
    case 401:
    // The same, in the service's newer word. Sources: zapo `FORCE_LOGOUT_CODE`, whatsapp-rust `handle_stream_error`.
    case 516:
      return { state: linked ? "logged_out" : "unlinked", retryInMs: null, erase: true };
    // Asking sooner could only make it longer.
    case 402:
      return { ...ended("blocked"), retryInMs: linked ? (bannedForMs ?? null) : null };
    // Kept: whoever looks into the case may need the credentials.
    case 403:
    case 406:
    case 419:
      return ended("blocked");
    // The next release of the client may be let in; asking often would only make it worse.
    case 405:
    case BAD_USER_AGENT:
      return { ...ended("action_required"), retryInMs: linked ? REFUSED_VERSION_WAIT_MS : null };
    case 411:
      return ended("action_required");
    // Whoever has the credentials too would be replaced in turn, and so on for ever. Only a process that had the number
    // before, and learns of it late, ends by itself.
    case 440:
      return linked && facts.contested
        ? again(backoff(facts.random, 2))
        : ended(linked ? "replaced" : "unlinked");
    // Too much was asked for: whoever comes back at once makes it worse. Source: whatsapp-rust `handle_stream_error`.
    case 429:
      return again(LONGEST_WAIT_MS / 2 + backoff(facts.random, 16) / 2);
    case 408:
      if (!linked && QR_USED_UP.test(reason)) return ended("unlinked");
      return again(backoff(facts.random, facts.attempt, wasOpen));
    default:
      return again(backoff(facts.random, facts.attempt, wasOpen));
  }
}

/** Full jitter below 1 s, 2 s, 4 s … 60 s, so that many numbers do not come back in step. */
function backoff(random: number, attempt: number, wasOpen = false): number {
  const longest = wasOpen ? LONGEST_AFTER_OPEN_MS : LONGEST_WAIT_MS;
  const limit = Math.min(longest, FIRST_WAIT_MS * 2 ** Math.min(attempt, 16));
  return Math.max(SHORTEST_WAIT_MS, Math.round(limit * random));
}

/** Whether a number that lives elsewhere comes back by itself, as far as its record tells. */
export const comesBackAs = ({
  state,
  lid,
  lastClose,
}: {
  state: LinkState;
  lid: string | null;
  lastClose: LastClose | null;
}): boolean =>
  state === "connecting" ||
  state === "connected" ||
  (state === "action_required" && lid !== null && isRefusedClient(lastClose));

/** Whether WhatsApp has refused the client itself. */
export const isRefusedClient = (lastClose: LastClose | null): boolean =>
  lastClose?.code === 405 || lastClose?.code === BAD_USER_AGENT;

const COMPLAINTS: Record<Exclude<Complaint, "proxy"> | "none", string> = {
  none: "The connection was lost",
  unacknowledged:
    "WhatsApp ended the connection because an ack was missing, and will send that stanza again. The connection was lost",
  malformed:
    "WhatsApp ended the connection because it could not read a stanza from this gateway. The connection was lost",
};
const REPEATED = " If this happens repeatedly, update Parley and report the contents of last_close.";

const BAN_ADVICE =
  "WhatsApp has banned this number until the time shown. It then reconnects on its own; write less to people who do not know you.";
const PASSKEY_ADVICE =
  "WhatsApp requires this account's passkey before it links another device. Set PASSKEY_LINKING=1, restart, and run: npm run parley -- link <number>";

const proxyAdvice = ({ reason }: LastClose): string =>
  `${reason} The number does not connect without it. Correct it with PATCH /devices/{number} {"proxy": …}, or remove it with null; the gateway goes on trying, and sends are kept.`;

/** One sentence for people: what is the matter, and what to do. */
export function adviceFor(state: LinkState, lastClose: LastClose | null): string {
  switch (state) {
    case "unlinked":
      return "This number is not linked to a phone. Link it with POST /generate-qr.";
    case "linking":
      if (lastClose?.complaint === "proxy") return proxyAdvice(lastClose);
      return "A QR code or pairing code is ready. Get it with POST /generate-qr.";
    case "connected":
      return "Everything is in order.";
    case "connecting":
      if (lastClose === null) return "The number is connecting. Wait a moment.";
      if (lastClose.complaint === "proxy") return proxyAdvice(lastClose);
      return `${COMPLAINTS[lastClose.complaint ?? "none"]} and the gateway is reconnecting. Sends are kept until then.${
        lastClose.complaint === undefined ? "" : REPEATED
      }`;
    case "logged_out":
      return "The phone or WhatsApp removed this linked device. Link it again with POST /generate-qr.";
    case "blocked":
      if (lastClose?.code === 402 && lastClose.until != null) return BAN_ADVICE;
      return "WhatsApp refuses this account. Open WhatsApp on the phone to see why; when WhatsApp accepts the account again, call POST /generate-qr.";
    case "replaced":
      return "Another program connected with the same credentials. Stop it, then call POST /generate-qr to take over.";
    case "action_required":
      if (lastClose?.reason === PASSKEY_WANTED) return PASSKEY_ADVICE;
      return isRefusedClient(lastClose)
        ? "WhatsApp refuses this client version. Update Parley, or set WHATSAPP_VERSION_URL, or WHATSAPP_VERSION to a current version (2.3000.x), and restart. The gateway retries every ten minutes; npm run parley -- doctor says more."
        : "WhatsApp requires an action on the phone. Open WhatsApp there, then call POST /generate-qr.";
  }
}

/** Why a number is in its state, in a word; null when there is nothing to explain. */
export type StateReason =
  | "passkey"
  | "version"
  | "banned"
  | "replaced"
  | "removed"
  | "phone"
  | "catching_up"
  | "code_refused"
  | "new_chats"
  | "rate_limited"
  | Complaint
  | null;

/** The word for a state. @param waiting what WhatsApp still holds back, see `Why.waiting` */
export function reasonFor(
  state: LinkState,
  lastClose: LastClose | null,
  waiting: number | null,
): StateReason {
  switch (state) {
    case "blocked":
      return "banned";
    case "replaced":
      return "replaced";
    case "logged_out":
      return "removed";
    case "linking":
      return lastClose?.complaint === "proxy" ? "proxy" : null;
    case "connecting":
      if (waiting !== null) return "catching_up";
      return lastClose?.code === 429 ? "rate_limited" : (lastClose?.complaint ?? null);
    case "action_required":
      if (lastClose?.reason === PASSKEY_WANTED) return "passkey";
      return isRefusedClient(lastClose) ? "version" : "phone";
    default:
      return null;
  }
}
