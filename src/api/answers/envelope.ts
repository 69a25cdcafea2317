import type { ErrorCode, GatewayError } from "../../model/errors/errors.ts";
import { atMost, type FieldProblems } from "../../model/errors/field-problems.ts";
import type { Page } from "../../model/page.ts";

/** One answer before it is written: JSON body with the envelope's fields first. */
export interface HttpAnswer {
  httpStatus: number;
  body: Record<string, unknown>;
  /** Written instead of `body`, as it is. */
  raw?: string | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
}

/** What a route returns that answers no JSON, or JSON of another kind. */
export class RawResult {
  readonly raw: string | ReadableStream<Uint8Array>;
  readonly headers: Record<string, string>;
  readonly httpStatus: number;

  /** @param headers with its content type */
  constructor(raw: RawResult["raw"], headers: Record<string, string>, httpStatus = 200) {
    this.raw = raw;
    this.headers = headers;
    this.httpStatus = httpStatus;
  }
}

/** What a route may return. */
export type Result = JsonResult | RawResult | Record<string, unknown>;

/** What a route may return instead of plain fields, when status, text or headers differ from the usual. */
export class JsonResult {
  readonly fields: Record<string, unknown>;
  readonly options: {
    httpStatus?: number;
    /** `processing`: what old clients of `MPWA_COMPAT` look for. */
    status?: boolean | "processing";
    message?: string;
    headers?: Record<string, string>;
  };

  constructor(fields: Record<string, unknown>, options: JsonResult["options"] = {}) {
    this.fields = fields;
    this.options = options;
  }
}

/** `msg` and `message` are the same text: customers' systems read the one or the other. */
export function succeeded(result: Result | undefined, usualMessage: string): HttpAnswer {
  if (result instanceof RawResult)
    return { httpStatus: result.httpStatus, body: {}, raw: result.raw, headers: result.headers };
  const { fields, options } =
    result instanceof JsonResult ? result : { fields: result ?? {}, options: {} as JsonResult["options"] };
  const message = options.message ?? usualMessage;
  return {
    httpStatus: options.httpStatus ?? 200,
    body: { status: options.status ?? true, msg: message, message, ...fields },
    headers: options.headers,
  };
}

/**
 * The answer to a request that failed: the status of its code, the text under `msg` and `message`, details under
 * `errors`.
 */
export function failed(error: GatewayError): HttpAnswer {
  const { extra, retryAfter, headers } = error.details;
  return {
    httpStatus: error.status,
    body: {
      status: false,
      msg: error.message,
      message: error.message,
      errors: { code: error.code, ...fieldsOf(error), ...extra },
    },
    headers: {
      ...headers,
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) }),
    },
  };
}

/** The first of the fields that are wrong, and how many there are when these are not all. */
function fieldsOf({ details: { fields, total = 0 } }: GatewayError): {
  fields?: FieldProblems;
  total?: number;
} {
  if (fields === undefined) return {};
  const told = atMost(fields);
  const all = Math.max(total, Object.keys(fields).length);
  return { fields: told, ...(all > Object.keys(told).length ? { total: all } : {}) };
}

/** A fault of ours: nothing of it leaves but the id under which the log has it. */
export function crashed(requestId: string): HttpAnswer {
  const message = "Internal error.";
  const code: ErrorCode = "INTERNAL_ERROR";
  return {
    httpStatus: 500,
    body: { status: false, msg: message, message, errors: { code, request_id: requestId } },
  };
}

/** The body of an answer that lists everything there is: `total` is the length of `data`. */
export const list = <T>(data: T[]): { total: number; data: T[] } => ({ total: data.length, data });

/** The body of an answer that is one page of a list. */
export const pageView = <T, V>({ items, ...page }: Page<T>, view: (item: T) => V) => ({
  ...page,
  data: items.map(view),
});
