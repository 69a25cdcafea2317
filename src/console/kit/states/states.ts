/** How a state looks. */
export type Tone = "neutral" | "good" | "warn" | "bad" | "info";

const TONES: Record<string, Tone> = {
  // of a number
  unlinked: "neutral",
  linking: "info",
  connecting: "warn",
  connected: "good",
  logged_out: "bad",
  blocked: "bad",
  replaced: "bad",
  action_required: "warn",
  // of a message
  queued: "info",
  sent: "good",
  delivered: "good",
  read: "good",
  played: "good",
  failed: "bad",
  expired: "neutral",
  scheduled: "info",
  cancelled: "neutral",
  // of a delivery
  pending: "info",
  retrying: "warn",
  dead: "bad",
  disabled: "neutral",
};

/** @param state of a number, a message or a delivery, as the API spells it */
export const toneOf = (state: string): Tone => TONES[state] ?? "neutral";
