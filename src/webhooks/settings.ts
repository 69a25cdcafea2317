import { z } from "zod";
import { GatewayError } from "../model/errors/errors.ts";
import { fieldProblems, type FieldProblems } from "../model/errors/field-problems.ts";
import { entries, flag, integer, isoTime, list, oneOf, text } from "../model/fields.ts";
import { camelKeys, shown, snakeKeys, type CamelKeys, type RecordOf } from "../model/view.ts";
import { splitCredentials } from "../net/outbound.ts";
import type { Receiver } from "./receiver.ts";
import {
  DISABLED_REASONS,
  REPLY_TARGETS,
  WEBHOOK_EVENTS,
  WEBHOOK_MODES,
  type WebhookEventName,
} from "../model/webhook-words.ts";

const MOST_HEADERS = 50;
const LONGEST_HEADER = 4096;
/** Headers that are Parley's or the transport's own: letting them be set would break signature or framing. */
const RESERVED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept-encoding|expect|upgrade|te|trailer|keep-alive|webhook-.*)$/i;
/** A token of RFC 9110, at most 100 characters. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
// A line break in a value would begin a header of its own. Latin-1 is all that fetch lets through.
const HEADER_VALUE = new RegExp(String.raw`^[\t\x20-\x7e\x80-\xff]{0,${LONGEST_HEADER}}$`);

const anyHeaders = entries(
  z.string().regex(HEADER_NAME, "Is not a header name."),
  text(0, LONGEST_HEADER).refine((value) => HEADER_VALUE.test(value), "Is not a header value."),
  MOST_HEADERS,
  `Must be at most ${MOST_HEADERS} headers.`,
);

/** What a webhook and a listener have in common. */
export const receiverFields = {
  url: text(1, 2048).refine(isHttpUrl, "Must be a complete address that starts with http:// or https://."),
  events: list(oneOf(WEBHOOK_EVENTS), 0, WEBHOOK_EVENTS.length),
  headers: anyHeaders,
  /** Milliseconds for one attempt; the default is the operator's, and may lie outside of these limits. */
  timeout_ms: integer(1000, 30_000),
};
/** What a receiver is told of unless its owner says otherwise. */
export const DEFAULT_EVENTS: WebhookEventName[] = ["message", "poll_vote"];

/** Seconds; of a number without a webhook, too. */
export const DEFAULT_REPLY_MAX_AGE = 3600;

/**
 * A number's webhook as its owner sets it, and what holds for what is left out. This is the only description: what PUT
 * takes and answers, the settings in the program and their row follow from it. A further setting is a line here and a
 * column of `webhooks` in `drizzle/schema.ts`; one that is sealed, like `headers`, is also named in `webhook-rows.ts`.
 */
export const webhookInput = z.object({
  url: receiverFields.url,
  mode: oneOf(WEBHOOK_MODES).default("fallback"),
  reply_to: oneOf(REPLY_TARGETS).default("chat"),
  events: receiverFields.events.default(DEFAULT_EVENTS),
  headers: receiverFields.headers.default({}),
  timeout_ms: receiverFields.timeout_ms.optional(),
  /** Seconds from WhatsApp's timestamp to the reply's commit; later ones are recorded and not sent. */
  reply_max_age: integer(0, 365 * 24 * 3600).default(DEFAULT_REPLY_MAX_AGE),
  /** Mark messages as read before they are posted. */
  read: flag().default(false),
  /** Show "typing" while the webhook is asked. */
  typing: flag().default(false),
  enabled: flag().default(true),
});

/** How a receiver does. */
export const webhookHealth = z.strictObject({
  /** `paused`: it keeps failing and nothing is posted for now · `disabled`: nothing is posted until it is set anew */
  state: z.enum(["ok", "failing", "paused", "disabled"]),
  /** Failed attempts since the last accepted one. */
  failures: z.int().min(0),
  failing_since: isoTime().nullable(),
  paused_until: isoTime().nullable(),
  /** Why Parley itself switched it off: it answered 410, or accepted nothing for days. Null when its owner did. */
  reason: z.enum(DISABLED_REASONS).nullable(),
});

const shownSettings = z.strictObject(shown(webhookInput.shape));

/** A webhook as `GET /devices/{number}/webhook` shows it. */
export const webhook = shownSettings.extend({ health: webhookHealth }).meta({ id: "Webhook" });

/** All settings, by the names of `webhookInput` in camel case. */
export type WebhookSettings = RecordOf<typeof shownSettings>;
/** Settings of which only `url` is required. */
export type WebhookChange = Partial<WebhookSettings> & Pick<WebhookSettings, "url">;
/** How a webhook does. Times are Unix milliseconds. */
export type WebhookHealth = RecordOf<typeof webhookHealth>;
/** What `webhook` shows, before it is shown. Times are Unix milliseconds. */
export type WebhookRecord = RecordOf<typeof webhook>;
/** With what only Parley sees. */
export type Webhook = WebhookSettings & Omit<Receiver, keyof WebhookSettings>;

/** Names of the settings, in the order of the schema. */
export const SETTING_NAMES = Object.keys(camelKeys(webhookInput.shape)) as (keyof WebhookSettings)[];

/**
 * @param input     what PUT was given, checked
 * @param timeoutMs default for `timeoutMs`: setting WEBHOOK_TIMEOUT_MS
 */
export function requestedSettings(input: z.output<typeof webhookInput>, timeoutMs: number): WebhookSettings {
  const { timeoutMs: asked = timeoutMs, ...given }: CamelKeys<typeof input> = camelKeys(input);
  return { ...given, timeoutMs: asked, events: [...new Set(given.events)] };
}

/**
 * Fills in what was left out and checks the rest.
 *
 * @param input     only `url` is required
 * @param timeoutMs default for `timeoutMs`: setting WEBHOOK_TIMEOUT_MS
 * @throws {GatewayError} INVALID_PARAMETERS, a text for each wrong field, by the names of the HTTP surface
 */
export function readWebhookSettings(input: WebhookChange, timeoutMs: number): WebhookSettings {
  const { timeoutMs: asked, ...rest } = input;
  const parsed = webhookInput.safeParse(snakeKeys(asked === timeoutMs ? rest : input), { reportInput: true });
  if (!parsed.success) throw invalid(byField(fieldProblems(parsed.error.issues)));
  const settings = requestedSettings(parsed.data, timeoutMs);
  return { ...settings, ...readAddress(settings) };
}

/**
 * The address and the headers to post with.
 *
 * @throws {GatewayError} INVALID_PARAMETERS
 */
export function readAddress(given: Pick<Receiver, "url" | "headers">): Pick<Receiver, "url" | "headers"> {
  const { url, authorization } = withoutCredentials(given.url);
  const headers = { ...authorization, ...given.headers };
  const problem = headersProblem(headers);
  if (problem !== null) throw invalid({ headers: [problem] });
  return { url, headers };
}

const invalid = (fields: FieldProblems): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });

/** `events.1` is a problem of `events`. */
function byField(problems: FieldProblems): FieldProblems {
  return Object.fromEntries(Object.entries(problems).map(([path, texts]) => [path.split(".")[0]!, texts]));
}

/**
 * `https://user:password@host` means Basic authentication. As a header it is sealed at rest; in the address it would
 * stand in the clear in every delivery.
 */
function withoutCredentials(text: string): { url: string; authorization: Record<string, string> } {
  if (!URL.canParse(text)) return { url: text, authorization: {} };
  const { address, authorization } = splitCredentials(new URL(text));
  return { url: "authorization" in authorization ? address : text, authorization };
}

function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  return new URL(value).hostname !== "";
}

/** What is wrong with all headers together, the one from the address included. */
function headersProblem(all: Record<string, string>): string | null {
  const entries = Object.entries(all);
  if (entries.length > MOST_HEADERS) return `At most ${MOST_HEADERS} headers.`;
  const wrong = entries.find(([, value]) => !HEADER_VALUE.test(value));
  if (wrong) return `Header "${wrong[0]}" has a name or a value that HTTP does not allow.`;
  const reserved = entries.find(([name]) => RESERVED.test(name));
  return reserved ? `Header "${reserved[0]}" is set by Parley itself.` : null;
}
