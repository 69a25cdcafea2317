import type { NewChats, ReachoutLock } from "../whatsapp/port.ts";
import type { DeviceRecord } from "./device-record.ts";
import { adviceFor, reasonFor, type LinkState, type StateReason } from "./link.ts";
import type { NumberLife } from "./number-life.ts";

/** Why a number is in its state. Times are Unix milliseconds. */
export interface Why {
  state: LinkState;
  since: number;
  reason: StateReason;
  /** When it comes to an end by itself, where WhatsApp has said so. */
  until: number | null;
  lastClose: DeviceRecord["lastClose"];
  nextRetryAt: number | null;
  /** How many stanzas WhatsApp still holds back; null when it has not said, or holds none. */
  waiting: number | null;
  /** One sentence for people. */
  advice: string;
  holdups: Holdups;
}

/** What keeps a connected number from sending; null: nothing. */
export interface Holdups {
  /** WhatsApp's media service takes no files: since when, how many chats wait for it, and what was last heard of it. */
  media: { since: number; chats: number; reason: string } | null;
  reachout: ReachoutLock | null;
  /** Nothing is sent until then. */
  pausedUntil: number | null;
  /** The number was linked lately: so many people may be written to for the first time on this day. */
  warmUp: { day: number; limit: number; used: number; resetsAt: number } | null;
}

const PASSKEY_ASKED =
  "WhatsApp is waiting for this account's passkey. Answer with POST /devices/{number}/passkey, or run: npm run parley -- link <number>";
const CODE_REFUSED =
  "WhatsApp refuses to link this number by code. Scan the QR code instead: POST /generate-qr without method.";

/** All that is known of why a number is in its state. */
export function whyOf(life: NumberLife, holdups: Holdups): Why {
  const { state, since, lastClose } = life.device;
  return {
    state,
    since,
    ...explained(life),
    until: state === "blocked" ? (lastClose?.until ?? null) : null,
    lastClose,
    nextRetryAt: life.nextRetryAt,
    waiting: life.waiting,
    holdups,
  };
}

/** What goes on in a linking says more than the state that it is in. */
function explained({ device, waiting, shown }: NumberLife): Pick<Why, "reason" | "advice"> {
  const { state } = device;
  const { passkey, codeRefused, qr } = shown();
  // Where there is a QR, the way to WhatsApp is open.
  const lastClose = state === "linking" && qr !== null ? null : device.lastClose;
  if (passkey !== null) return { reason: "passkey", advice: PASSKEY_ASKED };
  if (codeRefused !== null) return { reason: "code_refused", advice: CODE_REFUSED };
  if (state === "connected" && device.newChats?.isUsedUp)
    return { reason: "new_chats", advice: usedUpAdvice(device.newChats) };
  return { reason: reasonFor(state, lastClose, waiting), advice: adviceFor(state, lastClose) };
}

function usedUpAdvice({ limit, used, resetsAt }: NewChats): string {
  const count = limit === null ? "" : ` (${used} of ${limit})`;
  const until = resetsAt === null ? "" : ` until ${new Date(resetsAt).toISOString()}`;
  return `WhatsApp does not let this number begin new chats${until}: its limit is used up${count}. Existing chats still work; let people write first, or verify the business.`;
}
