import { ERROR_STATUS, type ErrorCode } from "../../model/errors/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { errorBody, failure } from "../schemas/answer.ts";
import { sendFailure } from "../schemas/messages.ts";
import { CODE_TEXTS, errorsOf } from "./codes.ts";
import type { Example } from "./examples.ts";
import { headersOf } from "./headers.ts";
import { toJsonSchema, type JsonSchema, type NamedSchemas } from "./json-schema.ts";
import type { OpenApiDocument, Operation, ResponseObject } from "./types.ts";

const JSON_TYPE = "application/json";

/** Every answer of an endpoint by its HTTP status: what it returns, and references to its failures. */
export function responsesOf(
  endpoint: Endpoint,
  example: Example | undefined,
  named: NamedSchemas,
  failures: Failures,
): Operation["responses"] {
  const { output, sends, produces = JSON_TYPE } = endpoint;
  const statuses = endpoint.statuses ?? (sends ? [200, 202] : [200]);
  const responses: Operation["responses"] = {};
  for (const status of statuses) {
    const shown = status === statuses[0] && example?.output !== undefined;
    responses[status] = {
      description: status === 202 ? "Accepted; the gateway continues on its own." : endpoint.message,
      headers: headersOf(endpoint, status),
      content: {
        [produces]: {
          schema: toJsonSchema(output, "output", named),
          ...(shown ? { example: example.output } : {}),
        },
      },
    };
  }
  for (const [status, codes] of byStatus(errorsOf(endpoint)))
    responses[status] ??= failures.refer(status, {
      description: codes.join(", "),
      headers: headersOf(endpoint, status),
      content: {
        [JSON_TYPE]: {
          schema: failureSchema(codes, sends === true, named),
          examples: Object.fromEntries(
            codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
          ),
        },
      },
      "x-codes": Object.fromEntries(codes.map((code) => [code, CODE_TEXTS[code]])),
    });
  return responses;
}

/** Failures under `components.responses`. Most endpoints fail in the same ways: each way is written once. */
export interface Failures {
  /** @returns a reference to this response, which is stored when it is new */
  refer(status: number, response: ResponseObject): { $ref: string };
  /** Every response by its name: `Error409` for the first with this status, `Error409_2` for the next. */
  all(): Record<string, ResponseObject>;
}

/** The answers of an operation by their status, whether they stand in it or under `components.responses`. */
export function responsesIn(
  { components }: OpenApiDocument,
  { responses }: Operation,
): Record<string, ResponseObject> {
  const resolve = (one: ResponseObject | { $ref: string }): ResponseObject =>
    "content" in one ? one : components.responses[one.$ref.slice(one.$ref.lastIndexOf("/") + 1)]!;
  return Object.fromEntries(Object.entries(responses).map(([status, one]) => [status, resolve(one)]));
}

/** Starts an empty collection. */
export function collectFailures(): Failures {
  const responses: Record<string, ResponseObject> = {};
  const names = new Map<string, string>();
  const counts = new Map<number, number>();
  const nameNew = (status: number): string => {
    const count = (counts.get(status) ?? 0) + 1;
    counts.set(status, count);
    return count === 1 ? `Error${status}` : `Error${status}_${count}`;
  };
  return {
    refer(status, response) {
      const text = JSON.stringify(response);
      const name = names.get(text) ?? nameNew(status);
      names.set(text, name);
      responses[name] ??= response;
      return { $ref: `#/components/responses/${name}` };
    },
    all: () => responses,
  };
}

/** A send that failed for all its destinations answers with its results, and the error of the first. */
function failureSchema(codes: ErrorCode[], sends: boolean, named: NamedSchemas): JsonSchema {
  const body = toJsonSchema(sends ? sendFailure : failure, "output", named);
  const code = { type: "object", properties: { code: { type: "string", enum: codes } }, required: ["code"] };
  const errors = { allOf: [toJsonSchema(errorBody, "output", named), code] };
  return { allOf: [body, { type: "object", properties: { errors }, required: ["errors"] }] };
}

function byStatus(codes: ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = ERROR_STATUS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

/** An example of each failure; `msg` and `message` are the same sentence. */
export function failureExamples(): Record<string, { summary: string; value: unknown }> {
  const codes = Object.keys(CODE_TEXTS) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => {
      const msg = CONTRACT[code] ?? CODE_TEXTS[code];
      const value = { status: false, msg, message: msg, errors: { code, ...BESIDE[code] } };
      return [code, { summary: CODE_TEXTS[code], value }];
    }),
  );
}

/** Texts that are a contract. */
const CONTRACT: Partial<Record<ErrorCode, string>> = {
  INVALID_PARAMETERS: "Invalid parameters!",
  INVALID_API_KEY: "Invalid data!",
  SENDER_NOT_FOUND: "Invalid data!",
  SENDER_NOT_CONNECTED: "Invalid data!",
};

/** What stands beside `code`. */
const BESIDE: Partial<Record<ErrorCode, object>> = {
  INVALID_PARAMETERS: { fields: { number: ["Must have at least one destination."] } },
  PERMISSION_DENIED: { permission: "messages" },
  PLAN_LIMIT: { limit: 1 },
  CANNOT_SEND: { reason: "not_member" },
  SENDER_NOT_FOUND: { fields: { sender: ["This API key has no such number."] } },
  WRONG_NUMBER: { scanned: "31600000002" },
  WHATSAPP_REFUSED: { whatsapp_code: 406 },
  REACHOUT_LOCKED: { until: "2026-11-21T10:30:00.000Z" },
  INTERNAL_ERROR: { request_id: "0b6f7a52-6c3f-4e0e-9a54-0f3f7a1c2b3d" },
};
