import type { DisabledReason } from "../model/webhook-words.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { Condition } from "./alert.ts";

/** A number, as far as alerts look at it. Times are Unix milliseconds. */
export interface WatchedNumber {
  id: number;
  accountId: string;
  /** Digits. */
  number: string;
  state: string;
  since: number;
  /** A phone has linked it. */
  lid: string | null;
}

/** Why Parley itself has switched a receiver off; null: it has not. */
export type ReceiverOff = DisabledReason | null;

/** What an alert of a number may be about. */
export const OF_A_NUMBER = ["logged_out", "blocked", "away", "webhook", "listener"] as const;
type OfANumber = (typeof OF_A_NUMBER)[number];

/** So long a number may be without its connection. */
const AWAY_MS = 5 * MINUTE_MS;
/** Linked, and not connected. */
const AWAY = new Set(["connecting", "replaced", "action_required"]);

const AWAY_TEXTS: Record<string, string> = {
  connecting: "has had no connection to WhatsApp for five minutes.",
  replaced: "is offline: another program uses its link.",
  action_required: "is offline: somebody must do something about it.",
};
const OVER_TEXTS: Record<string, string> = {
  connected: "is connected again.",
  linking: "is being linked again.",
  unlinked: "is not linked any more; nobody has to do anything.",
  logged_out: "was logged out meanwhile.",
  blocked: "is refused by WhatsApp now.",
  replaced: "is offline for another reason: another program uses its link.",
  action_required: "is offline for another reason: somebody must do something about it.",
};
const OFF_TEXTS: Record<DisabledReason, string> = {
  gone: "it answered 410 Gone",
  failing: "it has accepted nothing for days",
};

const OFF = {
  webhook: {
    name: "The webhook",
    cure: "Correct the receiver, then set the webhook again with PUT /devices/{number}/webhook.",
    over: "The webhook",
  },
  listener: {
    name: "A listener",
    cure: "GET /devices/{number}/webhooks says which. Correct the receiver, then switch it on again with PATCH /devices/{number}/webhooks/{id}.",
    over: "The listener",
  },
};

const about = ({ accountId, number }: WatchedNumber) => ({ account: accountId, device: number, node: null });

/** Under which a condition of a number is remembered. */
export const keyOf = (what: OfANumber, deviceId: number): string => `${what}:${deviceId}`;
/** The number of such a key; null: it is about something else. */
export const deviceOfKey = (key: string): number | null => {
  const [what, id = ""] = key.split(":");
  const isOfOne = OF_A_NUMBER.some((one) => one === what) && /^\d{1,15}$/.test(id);
  return isOfOne ? Number(id) : null;
};

/** What a look at a number needs besides its record. */
interface Look {
  webhook: ReceiverOff;
  /** Of any of its listeners. */
  listener: ReceiverOff;
  now: number;
  /** Whether this is known already: then it lasts until the number is well again, whatever it tries meanwhile. */
  isOpen(key: string): boolean;
  /** Asked for only when something holds. */
  advice(): string | null;
}

/** Everything that an operator is to know of a number now, by key. */
export function conditionsOf(
  device: WatchedNumber,
  { webhook, listener, now, isOpen, advice }: Look,
): Map<string, Condition> {
  const found = new Map<string, Condition>();
  const { id, state, since, number } = device;
  const tries = state === "linking" || state === "connecting";
  const holds = (what: "logged_out" | "blocked"): boolean =>
    state === what || (tries && isOpen(keyOf(what, id)));
  const add = (what: OfANumber, alert: Condition["alert"], text: string): void =>
    void found.set(keyOf(what, id), {
      alert,
      since,
      ...about(device),
      text: `+${number} ${text}`,
      advice: advice(),
    });
  if (holds("logged_out")) add("logged_out", "number_logged_out", "was logged out.");
  if (holds("blocked")) add("blocked", "number_blocked", "is blocked: WhatsApp refuses it.");
  // A number that asks for something at its first link is in front of somebody.
  const isAway = AWAY.has(state) && (state !== "action_required" || device.lid !== null);
  if (isAway && (now - since >= AWAY_MS || isOpen(keyOf("away", id))))
    add("away", "number_away", AWAY_TEXTS[state]!);
  const addOff = (what: "webhook" | "listener", reason: ReceiverOff): void => {
    if (reason === null) return;
    const { name, cure } = OFF[what];
    const text = `${name} of +${number} was switched off: ${OFF_TEXTS[reason]}.`;
    found.set(keyOf(what, id), {
      alert: "webhook_off",
      since: now,
      ...about(device),
      text,
      advice: cure,
    });
  };
  addOff("webhook", webhook);
  addOff("listener", listener);
  return found;
}

/** What is told when a condition of a number holds no longer. @param device null: it was removed */
export function overText(key: string, device: WatchedNumber | null): string {
  if (device === null) return "The number was removed.";
  const [what] = key.split(":");
  if (what === "webhook" || what === "listener")
    return `${OFF[what].over} of +${device.number} is not switched off any more.`;
  return `+${device.number} ${OVER_TEXTS[device.state] ?? `is ${device.state} now.`}`;
}
