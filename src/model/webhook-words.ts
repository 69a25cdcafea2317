/** What a webhook may ask to be told of. */
export const WEBHOOK_EVENTS = [
  "message",
  "poll_vote",
  "reaction",
  "edit",
  "revoke",
  "own",
  "channel",
  "call",
  "status",
  "device",
  "read",
  "group",
  "presence",
  "contact",
] as const;
/** What a webhook may ask to be told of. */
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

/** `fallback`: what no bot answered; `always`: every message, its reply used when no bot answered; `off`: nothing. */
export const WEBHOOK_MODES = ["fallback", "always", "off"] as const;
/** Which messages a webhook gets. */
export type WebhookMode = (typeof WEBHOOK_MODES)[number];

/** `sender`: a reply to a group message goes into the writer's private chat. */
export const REPLY_TARGETS = ["chat", "sender"] as const;
/** Where a webhook's replies go. */
export type ReplyTo = (typeof REPLY_TARGETS)[number];

/** `gone`: it answered 410; `failing`: it accepted nothing for days. */
export const DISABLED_REASONS = ["gone", "failing"] as const;
/** Why Parley itself switched a webhook off. */
export type DisabledReason = (typeof DISABLED_REASONS)[number];
