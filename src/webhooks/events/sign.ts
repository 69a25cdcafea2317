import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** @returns `whsec_` and 32 random bytes in base64 (Standard Webhooks asks for 24 to 64) */
export function createSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/**
 * The three headers of Standard Webhooks 1.0.
 *
 * @param secrets each signs, so that a receiver may check with the old or the new one while they are exchanged
 * @param id      the event's `webhook-id`, the same on every attempt
 * @param atMs    time of this attempt, Unix milliseconds
 * @param body    exactly what is posted
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  atMs: number,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
