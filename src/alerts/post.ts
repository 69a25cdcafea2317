import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { SECOND_MS, type Time } from "../model/time.ts";
import { view } from "../model/view.ts";
import { OutboundError } from "../net/errors.ts";
import { splitCredentials } from "../net/outbound.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { alert, type AlertRecord } from "./alert.ts";

/** What came of a post. */
export interface Posted {
  delivered: boolean;
  /** Null when no answer came. */
  statusCode: number | null;
  durationMs: number;
  /** Why it was not delivered, in a few words without the address; null: it was. */
  error: string | null;
  /** Seconds that the receiver asks to wait; null: it does not say. */
  retryAfter: number | null;
}

/** Where alerts go. */
export interface PostDeps {
  config: { alertUrl: string; alertSecret: string | null; publicUrl: string };
  /** May reach private addresses: this one is the operator's own. */
  http: Pick<SafeFetch, "request">;
  time: Pick<Time, "now" | "monotonic">;
}

const TIMEOUT_MS = 15 * SECOND_MS;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Posts alerts in one request, signed as Standard Webhooks 1.0 has it when there is a secret. The same alerts have the same
 * `webhook-id` at every attempt.
 */
export async function postAlerts(
  { config, http, time }: PostDeps,
  alerts: readonly AlertRecord[],
): Promise<Posted> {
  const at = time.now();
  const shown = alerts.map((record) => view(alert, record));
  const body = JSON.stringify({
    // Slack, Mattermost and others show this field as it is.
    text: alerts.map(({ text, advice }) => [text, advice].filter(Boolean).join(" ")).join("\n"),
    gateway: config.publicUrl,
    sent_at: new Date(at).toISOString(),
    alerts: shown,
  });
  const id = `alert_${createHash("sha256")
    .update(alerts.map((one) => `${one.id} ${one.status}`).join("\n"))
    .digest("hex")
    .slice(0, 32)}`;
  const { address, authorization } = splitCredentials(new URL(config.alertUrl));
  const signed = signature(config.alertSecret, id, at, body);
  const started = time.monotonic();
  const done = (rest: Omit<Posted, "durationMs">): Posted => ({
    ...rest,
    durationMs: Math.round(time.monotonic() - started),
  });
  try {
    const { status, headers } = await http.request(address, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization, ...signed },
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      repeatable: true,
    });
    const delivered = status >= 200 && status < 300;
    return done({
      delivered,
      statusCode: status,
      error: delivered ? null : `answered ${status}`,
      retryAfter: secondsOf(headers.get("retry-after")),
    });
  } catch (error) {
    // The message of another error may hold the address, which is a secret with many receivers.
    const reason = error instanceof OutboundError ? error.problem : "failed";
    return done({ delivered: false, statusCode: null, error: reason, retryAfter: null });
  }
}

function signature(secret: string | null, id: string, at: number, body: string): Record<string, string> {
  const date = new Date(at);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / SECOND_MS)),
    ...(secret !== null && { "webhook-signature": new Webhook(secret).sign(id, date, body) }),
  };
}

const secondsOf = (text: string | null): number | null =>
  text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
