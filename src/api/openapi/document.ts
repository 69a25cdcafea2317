import type { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../model/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { endpoints } from "../endpoints/index.ts";
import { sendAnswer } from "../endpoints/messages.ts";
import { failure } from "../schemas/answer.ts";
import { CODE_TEXTS, errorsOf } from "./codes.ts";
import { EXAMPLES, type Example } from "./examples.ts";
import { requestFields, toJsonSchema, type JsonSchema } from "./json-schema.ts";

/** The parts of an OpenAPI 3.1 document that ours uses. */
export interface OpenApiDocument {
  openapi: string;
  info: JsonSchema;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: JsonSchema };
}

/** What OpenAPI says about one method of one path. */
export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, ResponseObject>;
}

/** A parameter of the path, the query or the headers. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

interface ResponseObject {
  description: string;
  content: Record<string, { schema: JsonSchema; example?: unknown }>;
  /** Codes of failures, each with what it means. */
  "x-codes"?: Record<string, string>;
}

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const API_KEY: JsonSchema = {
  type: "string",
  description: "The key, unless it is sent as Authorization: Bearer.",
};
const IDEMPOTENCY_KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "Names this send: sent again within 24 hours, the first answer comes again and nothing is sent.",
};
/** Answers that stand in many places. */
const SHARED = new Map<z.ZodType, string>([
  [sendAnswer, "SendAnswer"],
  [failure, "Failure"],
]);

let built: OpenApiDocument | undefined;

/** The OpenAPI 3.1 document of every endpoint, made of the schemas that check requests and, in tests, answers. */
export function openApiDocument(): OpenApiDocument {
  return (built ??= build());
}

function build(): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {};
  for (const endpoint of inReadingOrder(endpoints))
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operation(endpoint);
  return {
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version: "1",
      description:
        "Messages from and to WhatsApp numbers. Every answer has `status`, and the same text as `msg` and `message`; what failed has `errors.code`. The paths are version 1 for ever; `/v1/…` answers the same.",
    },
    tags: [...new Set(inReadingOrder(endpoints).map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(
        [...SHARED].map(([schema, name]) => [name, toJsonSchema(schema, "output")]),
      ),
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key; its permissions are the scopes." },
        keyInQuery: { type: "apiKey", in: "query", name: "api_key", description: "GET sends only." },
        operator: { type: "http", scheme: "bearer", description: "PARLEY_ADMIN_TOKEN." },
      },
    },
  };
}

/** As the examples are written: what most callers want first. */
function inReadingOrder(all: Endpoint[]): Endpoint[] {
  const order = Object.keys(EXAMPLES);
  const place = ({ method, path }: Endpoint): number => {
    const index = order.indexOf(`${method} ${path}`);
    return index < 0 ? order.length : index;
  };
  return all.toSorted((a, b) => place(a) - place(b));
}

function operation(endpoint: Endpoint): Operation {
  const { method, path, summary } = endpoint;
  const example = EXAMPLES[`${method} ${path}`];
  const parameters = parametersOf(endpoint, example);
  const hasBody = method !== "GET" && method !== "DELETE";
  return {
    operationId: operationId(endpoint),
    summary,
    tags: [tagOf(endpoint)],
    security: securityOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody ? { requestBody: requestBody(endpoint, example) } : {}),
    responses: responsesOf(endpoint, example),
  };
}

/** `POST /devices/{number}/webhook/rotate` → `postDevicesNumberWebhookRotate` */
function operationId({ method, path }: Endpoint): string {
  const words = path.split(/[^a-zA-Z]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}

const TAGS: [RegExp, string][] = [
  [/^\/(send-|messages)/, "Messages"],
  [/^\/(chats|groups|resolve-lid|channels|media)/, "Chats"],
  [/webhook|^\/deliveries/, "Webhooks"],
  [/\/bots|^\/bots/, "Bots"],
  [/^\/(devices|generate-qr)/, "Numbers"],
  [/^\/admin/, "Operator"],
  [/^\/(account|api-keys)/, "Account"],
];

const tagOf = ({ path }: Endpoint): string =>
  TAGS.find(([pattern]) => pattern.test(path))?.[1] ?? "Observing";

/** Scopes of a key are its permissions. */
function securityOf({ access, keyIn }: Endpoint): Operation["security"] {
  if (access.by === "everybody") return [];
  if (access.by === "operator") return [{ operator: [] }];
  const scopes = access.permission === null ? [] : [access.permission];
  return keyIn === "query" ? [{ key: scopes }, { keyInQuery: scopes }] : [{ key: scopes }];
}

function parametersOf(endpoint: Endpoint, example: Example | undefined): Parameter[] {
  const { method, path, input, sends } = endpoint;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]): Parameter => {
    const shown = example?.path?.[name!];
    return {
      name: name!,
      in: "path",
      required: true,
      schema: { type: "string" },
      ...(shown === undefined ? {} : { example: shown }),
    };
  });
  const header: Parameter[] = sends
    ? [{ name: "Idempotency-Key", in: "header", required: false, schema: IDEMPOTENCY_KEY }]
    : [];
  if (method !== "GET" && method !== "DELETE") return [...inPath, ...header];
  const { properties, required } = requestFields(input);
  const all = sends ? { ...properties, idempotency_key: IDEMPOTENCY_KEY } : properties;
  const inQuery = Object.entries(all).map(([name, schema]): Parameter => {
    const shown = (example?.input as Record<string, unknown> | undefined)?.[name];
    return {
      name,
      in: "query",
      required: required.includes(name),
      schema: schema as JsonSchema,
      ...(shown === undefined ? {} : { example: shown }),
    };
  });
  return [...inPath, ...header, ...inQuery];
}

function requestBody(endpoint: Endpoint, example: Example | undefined): Operation["requestBody"] {
  const { input, access, method, sends } = endpoint;
  const { properties, required } = requestFields(input);
  const keyed = access.by === "key" && method === "POST";
  const schema: JsonSchema = {
    type: "object",
    properties: {
      ...(keyed ? { api_key: API_KEY } : {}),
      ...properties,
      ...(sends ? { idempotency_key: IDEMPOTENCY_KEY } : {}),
    },
    ...(required.length > 0 ? { required } : {}),
  };
  const content = { schema, ...(example?.input === undefined ? {} : { example: example.input }) };
  return { required: required.length > 0, content: { [JSON_TYPE]: content, [FORM_TYPE]: { schema } } };
}

function responsesOf(endpoint: Endpoint, example: Example | undefined): Operation["responses"] {
  const { output, sends, produces = JSON_TYPE } = endpoint;
  const statuses = endpoint.statuses ?? (sends ? [200, 202] : [200]);
  const responses: Operation["responses"] = {};
  for (const status of statuses) {
    const shown = status === statuses[0] && example?.output !== undefined;
    responses[status] = {
      description: status === 202 ? "Accepted; it goes on by itself." : endpoint.message,
      content: {
        [produces]: { schema: reference(output), ...(shown ? { example: example.output } : {}) },
      },
    };
  }
  for (const [status, codes] of byStatus(errorsOf(endpoint)))
    responses[status] ??= {
      description: codes.join(", "),
      content: { [JSON_TYPE]: { schema: failureSchema(codes, sends === true) } },
      "x-codes": Object.fromEntries(codes.map((code) => [code, CODE_TEXTS[code]])),
    };
  return responses;
}

function reference(schema: z.ZodType): JsonSchema {
  const name = SHARED.get(schema);
  return name === undefined ? toJsonSchema(schema, "output") : { $ref: `#/components/schemas/${name}` };
}

/** A send that failed for all its destinations answers with its results, and the error of the first. */
function failureSchema(codes: ErrorCode[], sends: boolean): JsonSchema {
  const restricted = { properties: { errors: { properties: { code: { enum: codes } } } } };
  const bodies = sends ? [failure, sendAnswer] : [failure];
  return { anyOf: bodies.map(reference), ...restricted };
}

function byStatus(codes: ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = ERROR_STATUS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}
