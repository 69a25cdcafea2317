import { ERROR_STATUS, type ErrorCode } from "../../model/errors/errors.ts";
import type { Endpoint } from "../endpoint.ts";

/** What each code tells a caller, in one sentence. */
export const CODE_TEXTS: Record<ErrorCode, string> = {
  INVALID_JSON: "The body is not a JSON object, or not UTF-8.",
  INVALID_PARAMETERS: "`fields` says what is wrong with each field.",
  INVALID_API_KEY: "The key is missing, malformed, unknown, deleted or expired.",
  INVALID_ADMIN_TOKEN: "The operator's token is missing or wrong.",
  SESSION_EXPIRED: "This cookie's session does not exist or has ended.",
  LINK_EXPIRED: "The link is unknown, has expired, or was withdrawn.",
  CSRF_TOKEN_INVALID:
    "The request used a session's cookie without its `X-CSRF-Token`, or came from another site.",
  PERMISSION_DENIED: "The key lacks `permission`.",
  ACCOUNT_DISABLED: "The operator has disabled the account.",
  PLAN_LIMIT: "The plan allows at most `limit`.",
  RECIPIENT_NOT_ALLOWED: "The key may not write to one of the destinations.",
  CANNOT_SEND: "`reason` says why the number may not write to this chat.",
  SENDER_NOT_FOUND: "The key has no such number.",
  NOT_FOUND: "Nothing here, or nothing that this caller may see.",
  METHOD_NOT_ALLOWED: "`Allow` names the methods of this path.",
  REQUEST_TIMEOUT: "The request did not arrive in full in time.",
  SENDER_NOT_CONNECTED: "This number is not linked to a phone.",
  NO_PASSKEY_REQUEST: "WhatsApp is not waiting for this number's passkey, or no longer is.",
  WRONG_NUMBER: "Another number, `scanned`, has scanned the code and was logged out.",
  IDEMPOTENCY_IN_PROGRESS: "The first request with this idempotency key is still running.",
  BODY_TOO_LARGE: "The body is larger than 1 MiB.",
  FILE_TOO_LARGE: "The file is larger than the gateway accepts.",
  UNSUPPORTED_CONTENT_TYPE: "The body is neither JSON nor a form.",
  FILE_UNREACHABLE: "The file could not be fetched.",
  FILE_NOT_USABLE: "The address did not answer with a file of the expected type.",
  URL_NOT_ALLOWED: "The address is private, or is neither http nor https.",
  NOT_ON_WHATSAPP: "The destination is not on WhatsApp.",
  TOO_LATE: "The message is older than 15 minutes (edit) or 48 hours (delete).",
  NOT_EDITABLE: "The message is not the number's own, has no text, or has been taken back.",
  TIME_NOT_USABLE:
    "A time of the message is more than 365 days ahead, or its end comes before its beginning; `fields` names it.",
  IDEMPOTENCY_KEY_REUSED: "The idempotency key belongs to a request with another body.",
  RATE_LIMITED:
    "Too many requests with this key, or too many wrong keys from this address; `Retry-After` says when to try again.",
  QUOTA_EXCEEDED: "The plan's sends for today are used up; `Retry-After` says when the next day begins.",
  HEADERS_TOO_LARGE: "The headers, without the request line, are larger than 16 KiB.",
  INTERNAL_ERROR: "The gateway failed; the log has the details under `request_id`.",
  WHATSAPP_REFUSED: "WhatsApp refused; `whatsapp_code` is WhatsApp's error code.",
  REACHOUT_LOCKED: "WhatsApp does not let this number write to new contacts until `until`.",
  UNAVAILABLE:
    "The gateway is restarting, or its storage is unavailable; `Retry-After` says when to try again.",
  CONVERTER_MISSING: "The gateway needs ffmpeg for this file; the operator can install it.",
  EXPIRED:
    "The message waited beyond its `expires`, or for longer than `RETENTION_DAYS`, so it will not be sent.",
};

/** What is found before it is known whom a request is for. */
const ALWAYS: ErrorCode[] = ["INVALID_PARAMETERS", "REQUEST_TIMEOUT", "HEADERS_TOO_LARGE", "INTERNAL_ERROR"];
const BODY: ErrorCode[] = ["INVALID_JSON", "UNSUPPORTED_CONTENT_TYPE", "BODY_TOO_LARGE"];
const KEY: ErrorCode[] = ["INVALID_API_KEY", "ACCOUNT_DISABLED", "RATE_LIMITED"];
/** Of a session's cookie that stands for a key or the operator's token. */
const COOKIE: ErrorCode[] = ["SESSION_EXPIRED"];
const SEND: ErrorCode[] = [
  "RECIPIENT_NOT_ALLOWED",
  "QUOTA_EXCEEDED",
  "CANNOT_SEND",
  "NOT_ON_WHATSAPP",
  "WHATSAPP_REFUSED",
  "REACHOUT_LOCKED",
  "IDEMPOTENCY_IN_PROGRESS",
  "IDEMPOTENCY_KEY_REUSED",
  "EXPIRED",
];

/** Every code that an endpoint may answer with, in the order of their HTTP statuses. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { method, path, access, input, sends, errors = [] } = endpoint;
  const fields = Object.keys(input.shape);
  const codes = new Set<ErrorCode>([...ALWAYS, ...errors]);
  const add = (when: boolean, more: ErrorCode[]): void => {
    if (when) for (const code of more) codes.add(code);
  };
  add(method === "POST" || method === "PUT" || method === "PATCH", BODY);
  add(access.by === "key" || access.by === "key or operator", KEY);
  add(access.by === "key" || access.by === "key or operator", ["PERMISSION_DENIED"]);
  add(access.by === "operator", ["INVALID_ADMIN_TOKEN", "RATE_LIMITED"]);
  add(access.by === "session", ["RATE_LIMITED"]);
  add(access.by !== "everybody", COOKIE);
  add(access.by !== "everybody" && (method !== "GET" || sends === true), ["CSRF_TOKEN_INVALID"]);
  add(access.by !== "everybody", ["UNAVAILABLE"]);
  add(path.includes("{") || path === "/account", ["NOT_FOUND"]);
  add(fields.includes("sender"), ["SENDER_NOT_FOUND", "SENDER_NOT_CONNECTED"]);
  add(fields.includes("device") && method === "POST" && access.by === "key", ["SENDER_NOT_FOUND"]);
  add(sends === true, SEND);
  return [...codes].toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b]);
}
