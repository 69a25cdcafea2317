import { z } from "zod";

/** A JSON Schema (2020-12) as zod writes it; nothing here reads more than a few of its keys. */
export type JsonSchema = Record<string, unknown>;

/**
 * What a zod schema says, as JSON Schema 2020-12.
 *
 * @param io `input`: what callers may write; `output`: what they read
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  return json;
}

/**
 * The fields of a request. What zod calls required of a transformed field is not what the endpoint requires: that is
 * asked of the field itself.
 */
export function requestFields(schema: z.ZodObject): { properties: JsonSchema; required: string[] } {
  const { properties = {} } = toJsonSchema(schema, "input") as { properties?: JsonSchema };
  const required = Object.entries(schema.shape)
    .filter(([, field]) => !(field as z.ZodType).safeParse(undefined).success)
    .map(([name]) => name);
  return { properties, required };
}

/** Leaves out what says nothing to a reader: limits of JavaScript's numbers, patterns that repeat a format. */
function tidy(json: JsonSchema): void {
  if (json["minimum"] === Number.MIN_SAFE_INTEGER) delete json["minimum"];
  if (json["maximum"] === Number.MAX_SAFE_INTEGER) delete json["maximum"];
  if (json["format"] === "date-time") delete json["pattern"];
  else delete json["format"];
  delete json["propertyNames"];
}
