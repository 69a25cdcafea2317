import { GatewayError } from "../model/errors.ts";
import { WEBHOOK_EVENTS, type WebhookEventName } from "./payload.ts";

/** Values of `mode`. */
export const WEBHOOK_MODES = ["fallback", "always", "off"] as const;
/** Values of `reply_to`. */
export const REPLY_TO = ["chat", "sender"] as const;
/** Values of `health.state`. */
export const HEALTH_STATES = ["ok", "failing", "paused", "disabled"] as const;
/** `gone`: it answered 410. `failing`: it accepted nothing for days. */
export const DISABLED_REASONS = ["gone", "failing"] as const;

/** A number's webhook as its owner sets it. */
export interface WebhookSettings {
  url: string;
  /** `fallback`: what no bot answered; `always`: every message, its reply used when no bot answered; `off`: nothing. */
  mode: (typeof WEBHOOK_MODES)[number];
  /** `sender`: a reply to a group message goes into the writer's private chat. */
  replyTo: (typeof REPLY_TO)[number];
  events: string[];
  headers: Record<string, string>;
  /** Milliseconds for one attempt, 1,000 to 30,000. */
  timeoutMs: number;
  /** Seconds from WhatsApp's timestamp to the reply's commit; later ones are recorded and not sent. */
  replyMaxAge: number;
  /** Mark messages as read before they are posted. */
  read: boolean;
  /** Show "typing" while the webhook is asked. */
  typing: boolean;
  enabled: boolean;
}

/** Why Parley itself switched a webhook off: it answered 410, or accepted nothing for days. */
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** How a webhook does. Times are Unix milliseconds. */
export interface WebhookHealth {
  /** `paused`: it keeps failing and nothing is posted for now · `disabled`: nothing is posted until it is set anew */
  state: (typeof HEALTH_STATES)[number];
  /** Failed attempts since the last accepted one. */
  failures: number;
  failingSince: number | null;
  pausedUntil: number | null;
  /** Null when its owner switched it off. */
  reason: DisabledReason | null;
}

/** With what only Parley sees. */
export interface Webhook extends WebhookSettings {
  deviceId: number;
  disabledReason: DisabledReason | null;
  secret: string;
  /** Earlier ones that still sign, the newest first. */
  oldSecrets: string[];
  /** Unix milliseconds. */
  oldSecretUntil: number | null;
}

/** What holds for what its owner leaves out; the default of `timeoutMs` is the operator's. */
export const WEBHOOK_DEFAULTS = {
  mode: "fallback",
  replyTo: "chat",
  events: ["message", "poll_vote"] as WebhookEventName[],
  headers: {},
  replyMaxAge: 3600,
  read: false,
  typing: false,
  enabled: true,
} satisfies Partial<WebhookSettings>;

/** What may be set, here and over HTTP. */
export const WEBHOOK_LIMITS = {
  /** Milliseconds. */
  timeoutMs: { min: 1000, max: 30_000 },
  /** Seconds. */
  replyMaxAge: { min: 0, max: 365 * 24 * 3600 },
  urlLength: 2048,
  headers: 50,
  headerLength: 4096,
};
/** Headers that are Parley's or the transport's own: letting them be set would break signature or framing. */
const RESERVED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept-encoding|expect|upgrade|te|trailer|keep-alive|webhook-.*)$/i;
/** A token of RFC 9110, at most 100 characters. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
// A line break in a value would begin a header of its own. Latin-1 is all that fetch lets through.
// oxlint-disable-next-line no-control-regex
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;

/**
 * Fills in what was left out and checks the rest.
 *
 * @param input     only `url` is required
 * @param timeoutMs default for `timeoutMs`: setting WEBHOOK_TIMEOUT_MS
 * @throws {GatewayError} INVALID_PARAMETERS, a text for each wrong field, by the names of the HTTP surface
 */
export function readWebhookSettings(
  input: Partial<WebhookSettings> & { url: string },
  timeoutMs: number,
): WebhookSettings {
  const { url, authorization } = splitCredentials(input.url);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const config: WebhookSettings = { ...WEBHOOK_DEFAULTS, timeoutMs, ...given, url };
  config.events = [...new Set(config.events)];
  config.headers = { ...authorization, ...config.headers };
  const problems: Record<string, string | null> = {
    url: urlProblem(config.url),
    mode: oneOf(config.mode, WEBHOOK_MODES),
    reply_to: oneOf(config.replyTo, REPLY_TO),
    events: eventsProblem(config.events),
    headers: headersProblem(config.headers),
    // The operator's setting may lie outside of what a customer may ask for.
    timeout_ms:
      config.timeoutMs === timeoutMs ? null : wholeNumber(config.timeoutMs, WEBHOOK_LIMITS.timeoutMs),
    reply_max_age: wholeNumber(config.replyMaxAge, WEBHOOK_LIMITS.replyMaxAge),
  };
  const found = Object.entries(problems).filter(([, text]) => text !== null);
  if (found.length > 0) {
    const fields = Object.fromEntries(found.map(([field, text]) => [field, [text!]]));
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });
  }
  return config;
}

/**
 * `https://user:password@host` means Basic authentication. As a header it is sealed at rest; in the address it would
 * stand in the clear in every delivery.
 */
function splitCredentials(text: string): { url: string; authorization: Record<string, string> } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.username === "" && url.password === "")) return { url: text, authorization: {} };
  const pair = `${decode(url.username)}:${decode(url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, authorization: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

/** A `%` that begins no escape is itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function urlProblem(text: string): string | null {
  const isWebAddress = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isWebAddress ? null : "Give a complete http or https address.";
}

function oneOf(value: string, allowed: readonly string[]): string | null {
  return allowed.includes(value) ? null : `Use one of ${allowed.join(", ")}.`;
}

function eventsProblem(events: string[]): string | null {
  const unknown = events.filter((event) => !(WEBHOOK_EVENTS as readonly string[]).includes(event));
  return unknown.length === 0 ? null : `Use only ${WEBHOOK_EVENTS.join(", ")}.`;
}

function headersProblem(headers: Record<string, string>): string | null {
  const entries = Object.entries(headers);
  if (entries.length > WEBHOOK_LIMITS.headers) return `At most ${WEBHOOK_LIMITS.headers} headers.`;
  const wrong = entries.find(([name, value]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(value));
  if (wrong) return `Header "${wrong[0].slice(0, 100)}" has a name or a value that HTTP does not allow.`;
  const reserved = entries.find(([name]) => RESERVED.test(name));
  return reserved ? `Header "${reserved[0]}" is set by Parley itself.` : null;
}

function wholeNumber(value: number, { min, max }: { min: number; max: number }): string | null {
  return Number.isInteger(value) && value >= min && value <= max
    ? null
    : `Give a whole number from ${min} to ${max}.`;
}
