import { z } from "zod";
import { text } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";

const LONGEST_ID = 1_000;

/** No tool takes nearly as many arguments. */
const MOST_FIELDS = 100;

/** Counted before the schemas of the protocol copy them, one by one and more than once. */
const params = z.preprocess((given, context) => {
  const { arguments: named, _meta: meta } = (given ?? {}) as Record<string, unknown>;
  if (![given, named, meta].some(isLarge)) return given;
  const message = `Has more than ${MOST_FIELDS} fields.`;
  context.issues.push({ code: "custom", input: given, message });
  return z.NEVER;
}, z.looseObject({}));

const isLarge = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > MOST_FIELDS;

/** `POST /mcp`: one message of the Model Context Protocol, and its answer as JSON. */
export const mcp = endpoint({
  method: "POST",
  path: "/mcp",
  access: { by: "key", permission: null },
  changesNothing: "A tool that changes something stands in the log as the endpoint that it is.",
  countsItself: true,
  summary: "Tools and pages for language models: Model Context Protocol over streamable HTTP",
  message: "The answer; a notification gets 202 and none.",
  statuses: [200, 202],
  // A session that has ended.
  errors: ["NOT_FOUND"],
  input: z.object({
    jsonrpc: z.literal("2.0"),
    id: z
      .union([z.int(), z.string().max(LONGEST_ID)])
      .optional()
      .meta({ description: "A message without one is a notification" }),
    method: text(1, 200).meta({
      description: "`initialize`, `tools/list`, `tools/call`, `resources/read`, …",
    }),
    params: params.optional(),
  }),
  output: z.strictObject({
    jsonrpc: z.literal("2.0").optional(),
    id: z.union([z.int(), z.string()]).optional(),
    result: z.looseObject({}).optional(),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  }),
});
