/**
 * The whole error catalogue: every `errors.code` that the HTTP surface may answer, with its status. Where a text is a
 * contract (`Invalid data!`), it stands here and nowhere else.
 */
export const ERROR_STATUS = {
  INVALID_JSON: 400,
  INVALID_PARAMETERS: 400,
  INVALID_API_KEY: 401,
  INVALID_ADMIN_TOKEN: 401,
  SESSION_EXPIRED: 401,
  LINK_EXPIRED: 401,
  PERMISSION_DENIED: 403,
  CSRF_TOKEN_INVALID: 403,
  ACCOUNT_DISABLED: 403,
  PLAN_LIMIT: 403,
  RECIPIENT_NOT_ALLOWED: 403,
  CANNOT_SEND: 403,
  SENDER_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  SENDER_NOT_CONNECTED: 409,
  WRONG_NUMBER: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  NO_PASSKEY_REQUEST: 409,
  TOO_LATE: 409,
  NOT_EDITABLE: 409,
  BODY_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  UNSUPPORTED_CONTENT_TYPE: 415,
  FILE_UNREACHABLE: 422,
  FILE_NOT_USABLE: 422,
  URL_NOT_ALLOWED: 422,
  NOT_ON_WHATSAPP: 422,
  TIME_NOT_USABLE: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  WHATSAPP_REFUSED: 502,
  REACHOUT_LOCKED: 502,
  UNAVAILABLE: 503,
  CONVERTER_MISSING: 503,
  EXPIRED: 504,
} as const;

/** What the API calls a failure; its HTTP status is in `ERROR_STATUS`. */
export type ErrorCode = keyof typeof ERROR_STATUS;

interface ErrorDetails {
  /** Texts per field, for INVALID_PARAMETERS and SENDER_NOT_FOUND. */
  fields?: Record<string, string[]>;
  /** How many fields are wrong, where `fields` may not have all of them. */
  total?: number;
  /** What stands beside `code`: `permission`, `reason`, `whatsapp_code`, `scanned`, `until`. */
  extra?: Record<string, unknown>;
  /** Seconds; becomes the `Retry-After` header. */
  retryAfter?: number;
  /** Response headers (`Allow`). */
  headers?: Record<string, string>;
}

/** An error that a caller is meant to read: `message` is public, says what is wrong and how to cure it. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = "GatewayError";
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = details;
  }
}

/** A fault that stops the start: one line that names the setting or file and the cure. Exit code 1 unless it has its own, no stack. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
    this.name = "StartError";
  }
}
