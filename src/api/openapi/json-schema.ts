import { z } from "zod";

/** What zod writes as JSON Schema (2020-12); nothing here reads more than a few of its keys. */
export type JsonSchema = Record<string, unknown>;

/** Schemas that have a name (`.meta({ id })`), as they stand under `components`. */
export type NamedSchemas = Map<string, JsonSchema>;

/** A schema that was converted, with those that it names. */
interface Converted {
  schema: JsonSchema;
  named: [string, JsonSchema][];
}

/** The failures of an endpoint are those of the others: each schema is converted once. */
const converted = { input: new WeakMap<z.ZodType, Converted>(), output: new WeakMap<z.ZodType, Converted>() };

/**
 * What a zod schema says, as JSON Schema 2020-12.
 *
 * @param io    `input`: what callers may write; `output`: what they read
 * @param named takes the schemas with a name that are found in it; they are referred to
 * @returns not to be changed: it may stand in several places
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output", named: NamedSchemas): JsonSchema {
  const known = converted[io].get(schema) ?? convert(schema, io);
  converted[io].set(schema, known);
  for (const [name, found] of known.named) named.set(name, found);
  return known.schema;
}

function convert(schema: z.ZodType, io: "input" | "output"): Converted {
  // As a field of something: a name that the schema itself has becomes a reference too.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), {
    io,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => tidy(jsonSchema, io),
  }) as unknown as { properties: { schema: JsonSchema }; $defs?: Record<string, JsonSchema> };
  const named: Converted["named"] = [];
  for (const [name, { id: _, ...found }] of Object.entries($defs)) named.push([name, inComponents(found)]);
  return { schema: inComponents(properties.schema), named };
}

/**
 * The fields of a request. What zod calls required of a transformed field is not what the endpoint requires, nor does it
 * know the default of one: both are asked of the field itself.
 */
export function requestFields(
  schema: z.ZodObject,
  named: NamedSchemas,
): { properties: Record<string, JsonSchema>; required: string[] } {
  const found = toJsonSchema(schema, "input", named)["properties"] as Record<string, JsonSchema> | undefined;
  const properties = { ...found };
  const required: string[] = [];
  for (const [name, field] of Object.entries(schema.shape)) {
    const absent = (field as z.ZodType).safeParse(undefined);
    if (!absent.success) required.push(name);
    else if (absent.data !== undefined) properties[name] = { ...properties[name], default: absent.data };
  }
  return { properties, required };
}

const inComponents = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema;

const FLAG_TEXTS = ["1", "0", "true", "false", "on", "off", "yes", "no"];

/** Leaves out what says nothing to a reader, and says of flags and numbers of requests that they may be text. */
function tidy(json: JsonSchema, io: "input" | "output"): void {
  if (json["minimum"] === Number.MIN_SAFE_INTEGER) delete json["minimum"];
  if (json["maximum"] === Number.MAX_SAFE_INTEGER) delete json["maximum"];
  if (json["format"] === "date-time") delete json["pattern"];
  else delete json["format"];
  delete json["propertyNames"];
  if (io === "output") return;
  if (json["type"] === "boolean") {
    delete json["type"];
    json["anyOf"] = [
      { type: "boolean" },
      { type: "string", enum: FLAG_TEXTS, description: "In any case" },
      { type: "integer", enum: [0, 1] },
    ];
  }
  if (json["type"] === "integer") {
    const { type, minimum, maximum } = json;
    for (const key of ["type", "minimum", "maximum"]) delete json[key];
    json["anyOf"] = [
      { type, ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) },
      { type: "string", pattern: "^[0-9]+$" },
    ];
  }
}
