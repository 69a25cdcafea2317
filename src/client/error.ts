import type { ErrorCode, Schemas } from "./types.ts";

/** What stands beside a code: `permission`, `reason`, `until` and so on. */
export type ErrorDetails = Omit<Schemas["Error"], "code" | "message" | "fields">;

/** How a failure is told. */
interface Told {
  message: string;
  status: number;
  code: ParleyError["code"];
  fields?: Record<string, string[]>;
  requestId?: string | null;
  retryAfter?: number | null;
  details?: ErrorDetails;
  answer?: unknown;
  cause?: unknown;
}

/**
 * Every failure of a call but its signal's: an answer of the gateway that is no success, or that nothing which speaks its
 * language answered.
 */
export class ParleyError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The gateway's code; `NETWORK_ERROR`: no answer came; `UNEXPECTED_ANSWER`: something else than the gateway answered. */
  readonly code: ErrorCode | "NETWORK_ERROR" | "UNEXPECTED_ANSWER";
  /** Of `INVALID_PARAMETERS`, and of a sender that is not there: what is wrong with each field. */
  readonly fields: Record<string, string[]>;
  /** `X-Request-Id`: the gateway's log has the request under it. */
  readonly requestId: string | null;
  /** Seconds after which it may be tried again, when the gateway said so. */
  readonly retryAfter: number | null;
  readonly details: ErrorDetails;
  /** The body, parsed; null when it was no JSON. Of a send it has `results`. */
  readonly answer: unknown;

  constructor(told: Told) {
    super(told.message, told.cause === undefined ? undefined : { cause: told.cause });
    this.name = "ParleyError";
    this.status = told.status;
    this.code = told.code;
    this.fields = told.fields ?? {};
    this.requestId = told.requestId ?? null;
    this.retryAfter = told.retryAfter ?? null;
    this.details = told.details ?? {};
    this.answer = told.answer ?? null;
  }
}

/** The error of an answer that is no success. @param body parsed, null when it was no JSON */
export function errorOf(response: Response, body: unknown): ParleyError {
  const { status, headers } = response;
  const whole = (isRecord(body) ? body : {}) as { message?: unknown; errors?: unknown };
  const errors = isRecord(whole.errors) ? whole.errors : null;
  const { code, message: _, fields, ...details } = (errors ?? {}) as Partial<Schemas["Error"]>;
  const words = typeof whole.message === "string" ? whole.message : `The gateway answered HTTP ${status}.`;
  const named = Object.entries(fields ?? {}).map(([name, texts]) => `${name}: ${texts.join(" ")}`);
  return new ParleyError({
    message: [words, ...named].join(" "),
    status,
    code: code ?? "UNEXPECTED_ANSWER",
    requestId: headers.get("x-request-id"),
    retryAfter: secondsOf(headers.get("retry-after")),
    details,
    answer: body,
    ...(fields === undefined ? {} : { fields }),
  });
}

/** The error of a request that got no answer, or none that is JSON. */
export const awayError = (url: string, cause: unknown, code: ParleyError["code"], status = 0): ParleyError =>
  new ParleyError({ message: `No Parley gateway answered at ${url}.`, status, code, cause });

function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
