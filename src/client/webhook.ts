import type { WebhookPayload } from "./types.ts";

type Of<T extends WebhookPayload["type"], Extra> = Omit<WebhookPayload, keyof Extra | "type"> & {
  type: T;
} & Extra;
type Has<F extends keyof WebhookPayload> = { [K in F]: NonNullable<WebhookPayload[K]> };
type Told =
  | Of<"poll_vote", Has<"poll">>
  | Of<"location", Has<"location">>
  // A message with cards, or what is another of a person.
  | Of<"contact", Has<"contacts">>
  | Of<"contact", Has<"contact">>
  | Of<"group", Has<"group">>
  | Of<"presence", Has<"presence">>;
type Stated =
  | Of<"status", Has<"target_id" | "state"> & Pick<Required<WebhookPayload>, "error">>
  | Of<"read", Has<"target_id" | "state">>
  | Of<"device", Has<"state"> & Pick<Required<WebhookPayload>, "reason" | "until">>;

/** What a webhook is told: `type` says what cannot be null. */
export type WebhookEvent =
  | Told
  | Of<"reaction", Has<"reaction">>
  | Stated
  | Of<Exclude<WebhookPayload["type"], Told["type"] | "reaction" | Stated["type"]>, Record<never, never>>;

/** What came to a webhook, and is the gateway's. */
export interface Delivery {
  /** `webhook-id`: the same on every attempt, so that what was done once need not be done again. */
  id: string;
  /** When this attempt was made. */
  at: Date;
  event: WebhookEvent;
}

/** A request that is not to be believed: answer it with 401 and do nothing. */
export class WebhookError extends Error {
  readonly reason: "headers" | "timestamp" | "signature" | "body";

  constructor(reason: WebhookError["reason"], message: string) {
    super(message);
    this.name = "WebhookError";
    this.reason = reason;
  }
}

/** What is checked. */
export interface WebhookRequest {
  headers: Headers | Record<string, string | string[] | undefined>;
  /** Exactly what came: parsed and written anew it has another signature. */
  body: string | Uint8Array;
}

/** How it is checked. */
export interface VerifyOptions {
  /** Seconds by which the two clocks, and the way, may differ. Default 300. */
  toleranceSeconds?: number;
  /** Unix milliseconds. Default: the clock. */
  now?: () => number;
}

const SIGNATURES = 10;
const encoder = new TextEncoder();

/**
 * Checks that an event comes from the gateway, as Standard Webhooks has it, and reads it.
 *
 * @param secret `whsec_…`; while it is exchanged a list: the gateway then signs with the old and the new one for 24 hours
 * @throws WebhookError when it is not to be believed
 * @throws TypeError when a secret is none
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  { headers, body }: WebhookRequest,
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<Delivery> {
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
    header(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signature)
    throw new WebhookError("headers", "The headers of Standard Webhooks are missing.");
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  if (!(Math.abs(now() - at) <= toleranceSeconds * 1000))
    throw new WebhookError(
      "timestamp",
      `The event's timestamp is too far from the present time: ${timestamp.slice(0, 20)}.`,
    );
  const content = joined(encoder.encode(`${id}.${timestamp}.`), bytesOf(body));
  const keys = await Promise.all((typeof secret === "string" ? [secret] : secret).map(keyOf));
  if (!(await isSigned(keys, signature, content)))
    throw new WebhookError("signature", "The signature does not match: check the webhook's secret.");
  return { id, at: new Date(at), event: eventIn(body) };
}

/** The platform compares, in a time that does not depend on where two signatures differ. */
async function isSigned(keys: CryptoKey[], header: string, content: Bytes): Promise<boolean> {
  for (const one of header.split(" ", SIGNATURES)) {
    const signature = one.startsWith("v1,") ? fromBase64(one.slice(3)) : null;
    if (signature === null) continue;
    for (const key of keys) if (await crypto.subtle.verify("HMAC", key, signature, content)) return true;
  }
  return false;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0)
    throw new TypeError("A secret is whsec_ and base64, as in the answer of PUT …/webhook.");
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function eventIn(body: string | Uint8Array): WebhookEvent {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookError("body", "The body is not JSON.");
  }
}

function header(headers: WebhookRequest["headers"], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return (Array.isArray(found) ? found.join(" ") : found) ?? null;
}

type Bytes = Uint8Array<ArrayBuffer>;

const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === "string" ? encoder.encode(body) : body;

function joined(head: Uint8Array, tail: Uint8Array): Bytes {
  const all = new Uint8Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all;
}

/** Null when it is none. */
function fromBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  } catch {
    return null;
  }
}
