/** A webhook as `GET /devices/{number}/webhook` shows it. */
export interface Webhook {
  url: string;
  mode: "fallback" | "always" | "off";
  reply_to: "chat" | "sender";
  events: string[];
  headers: Record<string, string>;
  timeout_ms: number;
  reply_max_age: number;
  read: boolean;
  typing: boolean;
  enabled: boolean;
  health: {
    state: "ok" | "failing" | "paused" | "disabled";
    failures: number;
    failing_since: string | null;
    paused_until: string | null;
    reason: "gone" | "failing" | null;
  };
}

/** Answer of `POST …/webhook/test`. */
export interface WebhookTest {
  status_code: number | null;
  duration_ms: number;
  answer: string | null;
  understood: boolean;
  error: string | null;
  request: { method: string; url: string; headers: Record<string, string>; body: string };
  replies: {
    kind: "text" | "poll" | "media";
    text: string | null;
    quoted: boolean;
    options?: string[];
    url?: string;
  }[];
  ignored: string[];
  hold: number | null;
}

/** Every event that a webhook can be told of, as api documents them; the first two by default. */
export const EVENTS = [
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

/** One header as it is filled in. */
export interface Header {
  name: string;
  value: string;
}

/** What is being filled in: everything as text, as fields have it. */
export interface Draft {
  url: string;
  enabled: boolean;
  mode: Webhook["mode"];
  reply_to: Webhook["reply_to"];
  events: string[];
  headers: Header[];
  timeout: string;
  reply_max_age: string;
  read: boolean;
  typing: boolean;
}

const MS = 1000;

/** Stored headers, to be filled in. */
export const headersOf = (headers: Record<string, string>): Header[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

/** The other way; what has no name is left out. */
export const headersIn = (headers: readonly Header[]): Record<string, string> =>
  Object.fromEntries(
    headers.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]),
  );

/** @param webhook null: none is set, and these are the defaults */
export function draftOf(webhook: Webhook | null): Draft {
  return {
    url: webhook?.url ?? "",
    enabled: webhook?.enabled ?? true,
    mode: webhook?.mode ?? "fallback",
    reply_to: webhook?.reply_to ?? "chat",
    events: webhook?.events ?? ["message", "poll_vote"],
    headers: headersOf(webhook?.headers ?? {}),
    // What the operator has set may lie outside of what may be given: then it is left out.
    timeout: webhook === null ? "" : String(webhook.timeout_ms / MS),
    reply_max_age: String(webhook?.reply_max_age ?? 3600),
    read: webhook?.read ?? false,
    typing: webhook?.typing ?? false,
  };
}

/** What PUT is given. @param stored its timeout is not named when it was not changed: it may be the operator's */
export function bodyOf(draft: Draft, stored: Webhook | null): Record<string, unknown> {
  const timeoutMs = Math.round(Number(draft.timeout.replace(",", ".")) * MS);
  const isUsual =
    draft.timeout.trim() === "" ||
    (stored !== null && timeoutMs === stored.timeout_ms && (timeoutMs < 1000 || timeoutMs > 30_000));
  return {
    url: draft.url.trim(),
    enabled: draft.enabled,
    mode: draft.mode,
    reply_to: draft.reply_to,
    events: EVENTS.filter((event) => draft.events.includes(event)),
    headers: headersIn(draft.headers),
    ...(!isUsual && { timeout_ms: timeoutMs }),
    reply_max_age: Number(draft.reply_max_age),
    read: draft.read,
    typing: draft.typing,
  };
}
