import type { Endpoint } from "../endpoint.ts";
import { nameOf } from "../endpoints/index.ts";
import { EXAMPLES, type Example } from "./examples.ts";
import { requestFields, type JsonSchema, type NamedSchemas } from "./json-schema.ts";
import { responsesOf, type Failures } from "./responses.ts";
import { descriptionOf, tagOf } from "./texts.ts";
import type { Operation, Parameter } from "./types.ts";

const API_KEY: JsonSchema = {
  type: "string",
  description: "The API key, unless it is sent as Authorization: Bearer.",
};
/** The field of every send that makes it safe to repeat. */
export const IDEMPOTENCY_KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing.",
};

/**
 * One endpoint as OpenAPI says it.
 *
 * @param named    takes the schemas that it refers to
 * @param failures takes the failures that it refers to
 */
export function operationOf(endpoint: Endpoint, named: NamedSchemas, failures: Failures): Operation {
  const { method, path, summary } = endpoint;
  const example = EXAMPLES[`${method} ${path}`];
  const parameters = parametersOf(endpoint, example, named);
  const hasBody = method !== "GET" && method !== "DELETE";
  return {
    operationId: nameOf(endpoint),
    summary,
    description: descriptionOf(endpoint),
    tags: [tagOf(endpoint)],
    security: securityOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody ? { requestBody: requestBody(endpoint, example, named) } : {}),
    responses: responsesOf(endpoint, example, named, failures),
  };
}

/** Scopes of a key are its permissions. */
function securityOf({ access, keyIn }: Endpoint): Operation["security"] {
  if (access.by === "everybody") return [];
  if (access.by === "operator") return [{ operator: [] }];
  if (access.by === "session") return [{ session: [] }];
  if (access.by === "key or operator") return [{ key: [] }, { operator: [] }];
  const scopes = access.permission === null ? [] : [access.permission];
  return keyIn === "query" ? [{ key: scopes }, { keyInQuery: scopes }] : [{ key: scopes }];
}

function parametersOf(endpoint: Endpoint, example: Example | undefined, named: NamedSchemas): Parameter[] {
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
  const { properties, required } = requestFields(input, named);
  const all = sends ? { ...properties, idempotency_key: IDEMPOTENCY_KEY } : properties;
  const inQuery = Object.entries(all).map(([name, schema]): Parameter => {
    const shown = (example?.input as Record<string, unknown> | undefined)?.[name];
    return {
      name,
      in: "query",
      required: required.includes(name),
      schema,
      ...(shown === undefined ? {} : { example: shown }),
    };
  });
  return [...inPath, ...header, ...inQuery];
}

function requestBody(
  endpoint: Endpoint,
  example: Example | undefined,
  named: NamedSchemas,
): Operation["requestBody"] {
  const { input, access, method, sends, fileIn } = endpoint;
  const { properties: all, required } = requestFields(input, named);
  const { file, ...rest } = all;
  const properties = fileIn === undefined ? all : rest;
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
  return {
    required: required.length > 0,
    content: {
      "application/json": content,
      "application/x-www-form-urlencoded": { schema },
      ...(fileIn !== undefined && { "multipart/form-data": { schema: withFile(file) } }),
    },
  };
}

/** Written once: the fields are those of the other forms. */
const withFile = (file: JsonSchema | undefined): JsonSchema => ({
  type: "object",
  description: "The same fields, all of them before the file",
  properties: { file: { ...file, type: "string", format: "binary" } },
});
