import type { z } from "zod";
import { allows } from "../accounts/authorize.ts";
import type { Caller } from "../accounts/caller.ts";
import { idempotencyKey } from "../api/answers/idempotency.ts";
import type { HttpAnswer } from "../api/answers/envelope.ts";
import type { Run } from "../api/call.ts";
import { perform, type Asked } from "../api/define-api.ts";
import type { Access, Endpoint } from "../api/endpoint.ts";
import { requestFields, type JsonSchema, type NamedSchemas } from "../api/openapi/json-schema.ts";
import { IDEMPOTENCY_KEY } from "../api/openapi/operation.ts";
import { asText } from "../model/fields.ts";
import { REQUIRED, type FieldProblems } from "../model/errors/field-problems.ts";

/** Whoever calls a tool, and with what. */
export interface ToolCall extends Pick<Asked, "event" | "asker"> {
  fields: Record<string, unknown>;
  /** Names this request of this session, for a send without an idempotency key of its own; null: there is no session. */
  once: string | null;
}

/** What hosts are told of a tool before they let a model use it. */
interface Annotations {
  readOnlyHint: boolean;
  /** What it does cannot be taken back. */
  destructiveHint: boolean;
  /** Twice is the same as once. */
  idempotentHint: boolean;
  /** Reaches people, or asks WhatsApp. */
  openWorldHint: boolean;
}

/** What is said of a tool. */
interface About {
  name: string;
  title: string;
  description: string;
  annotations: Annotations;
}

/** An endpoint that a model may use. */
export interface Tool extends About {
  /** Any of these is enough to see it. */
  permissions: string[];
  inputSchema: JsonSchema;
  /** @throws GatewayError, as its endpoint */
  call(call: ToolCall): Promise<HttpAnswer>;
}

/** Whether a key has a right to a tool. */
export const isAllowed = ({ permissions }: Tool, caller: Pick<Caller, "permissions">): boolean =>
  permissions.some((permission) => allows(caller, permission));

interface Made<A extends Access, I extends z.ZodObject> extends About {
  endpoint: Endpoint<A, I>;
  run: Run<A, z.output<I>>;
  /** Says what stands in the path. */
  path?: Record<string, string>;
  /** Puts what contacts wrote apart, in an answer that has `data`. */
  view?: (body: Record<string, unknown>) => Record<string, unknown>;
}

/** Makes a tool of an endpoint: its fields are the tool's, and those of its path. */
export function tool<A extends Access, I extends z.ZodObject>({
  endpoint,
  run,
  path = {},
  view = (body) => body,
  ...about
}: Made<A, I>): Tool {
  const { access } = endpoint;
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    ...about,
    permissions: access.by === "key" && access.permission !== null ? [access.permission] : [],
    inputSchema: schemaOf(endpoint, path),
    async call({ event, asker, fields, once }) {
      const { params, rest, problems } = readPath(inPath, fields);
      const answer = await perform(endpoint, run, {
        event,
        asker,
        params,
        raw: { fields: rest, problems },
        named: () => idempotencyKey(null, fields) ?? once,
      });
      return "data" in answer.body ? { ...answer, body: view(answer.body) } : answer;
    },
  };
}

/** What a request would have in its path. */
function readPath(names: string[], fields: Record<string, unknown>) {
  const rest = { ...fields };
  const params: Record<string, string> = {};
  const problems: FieldProblems = {};
  for (const name of names) {
    const value = asText(rest[name] ?? "");
    delete rest[name];
    if (typeof value === "string" && value !== "" && value.isWellFormed()) params[name] = value;
    else problems[name] = [value === "" ? REQUIRED : "Must be text."];
  }
  return { params, rest, problems };
}

function schemaOf({ input, sends, fileIn }: Endpoint, path: Record<string, string>): JsonSchema {
  const shared: NamedSchemas = new Map();
  const { properties: all, required } = requestFields(input, shared);
  // A call of a tool is JSON: it has no parts.
  const { file: _, ...withoutFile } = all;
  const properties = fileIn === undefined ? all : withoutFile;
  const inPath = Object.entries(path).map(([name, description]) => [name, { type: "string", description }]);
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(inPath),
      ...inPlace(properties, shared),
      ...(sends && { idempotency_key: IDEMPOTENCY_KEY }),
    },
    required: [...Object.keys(path), ...required],
  };
}

const NAME = /^#\/components\/schemas\/(\w+)$/;

/** A tool stands alone: what its fields refer to is put where it is referred to. */
const inPlace = (properties: Record<string, JsonSchema>, shared: NamedSchemas): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const named = NAME.exec(String(schema["$ref"]))?.[1];
      return [name, named === undefined ? schema : shared.get(named)!];
    }),
  );
