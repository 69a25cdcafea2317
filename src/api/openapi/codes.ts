import { ERROR_STATUS, type ErrorCode } from "../../model/errors.ts";
import type { Endpoint } from "../endpoint.ts";

/** What each code tells a caller, in one sentence. */
export const CODE_TEXTS: Record<ErrorCode, string> = {
  INVALID_JSON: "The body is no JSON object, or not UTF-8.",
  INVALID_PARAMETERS: "`fields` names what is wrong with each field.",
  INVALID_API_KEY: "The key is missing, malformed, unknown, deleted or expired.",
  INVALID_ADMIN_TOKEN: "The operator's token is missing or wrong.",
  SESSION_EXPIRED: "Nobody is signed in by this cookie, or no longer.",
  LINK_EXPIRED: "The link is unknown, over, or withdrawn.",
  CSRF_TOKEN_INVALID: "By a session's cookie, and without its `X-CSRF-Token`; or from another site.",
  PERMISSION_DENIED: "The key lacks `permission`.",
  ACCOUNT_DISABLED: "The operator has disabled the account.",
  PLAN_LIMIT: "The plan allows no more than `limit`.",
  RECIPIENT_NOT_ALLOWED: "The key may not write to one of the destinations.",
  CANNOT_SEND: "`reason` says why nothing may be sent there.",
  SENDER_NOT_FOUND: "The key has no such number.",
  NOT_FOUND: "There is nothing here that this caller may see.",
  METHOD_NOT_ALLOWED: "`Allow` names the methods of this path.",
  REQUEST_TIMEOUT: "The request did not come to its end in time.",
  SENDER_NOT_CONNECTED: "No phone has this number linked.",
  NO_PASSKEY_REQUEST: "WhatsApp does not wait for a passkey of this number, or no longer.",
  WRONG_NUMBER: "Another number, `scanned`, has scanned the code and was logged out.",
  IDEMPOTENCY_IN_PROGRESS: "The first request with this idempotency key is still running.",
  BODY_TOO_LARGE: "The body is larger than 1 MiB.",
  FILE_TOO_LARGE: "The file is larger than the gateway takes.",
  UNSUPPORTED_CONTENT_TYPE: "The body is neither JSON nor a form.",
  FILE_UNREACHABLE: "The file could not be fetched.",
  FILE_NOT_USABLE: "What the address answers with is not the file that was promised.",
  URL_NOT_ALLOWED: "The address is private, or not http or https.",
  NOT_ON_WHATSAPP: "The destination has no WhatsApp.",
  IDEMPOTENCY_KEY_REUSED: "The idempotency key belongs to a request with another body.",
  RATE_LIMITED:
    "Too many requests with this key, or wrong keys from this address; `Retry-After` says when to try again.",
  QUOTA_EXCEEDED: "The plan's sends of the day are used up; `Retry-After` says when the next day begins.",
  HEADERS_TOO_LARGE: "The headers beside the request line are larger than 16 KiB.",
  INTERNAL_ERROR: "A fault of the gateway; the log has it under `request_id`.",
  WHATSAPP_REFUSED: "WhatsApp refused; `whatsapp_code` is its own word for it.",
  REACHOUT_LOCKED: "WhatsApp lets this number write to nobody for the first time, until `until`.",
  UNAVAILABLE: "The gateway is restarting, or its storage is away; `Retry-After` says when to try again.",
  CONVERTER_MISSING: "The operator has to install ffmpeg for this.",
  EXPIRED: "The message waited in the queue for longer than `RETENTION_DAYS` and is not sent any more.",
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
