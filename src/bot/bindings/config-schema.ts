import { z } from "zod";
import { nearest } from "../place.ts";
import type { StandardSchema } from "../standard-schema.ts";

/** JSON Schema 2020-12 of what may be written. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** Standard JSON Schema, which newer libraries have beside `validate`. */
interface SaysItself {
  jsonSchema?: { input?: (options: { target: string }) => unknown };
}

/** Longer ones are no form that anybody fills in. Characters of JSON. */
const LONGEST = 65_536;

/**
 * The settings that a bot takes, for whoever shows them as a form. What the schema cannot say this way (a test of the
 * author's own) is left out: saving still asks the schema itself.
 *
 * @returns null: any settings fit, or the library cannot write its schema down
 */
export function configSchemaOf(schema: StandardSchema | null): ConfigSchema | null {
  if (schema === null) return null;
  let known = written.get(schema);
  if (known === undefined) written.set(schema, (known = write(schema)));
  return known;
}

/** Tables of tens of thousands of numbers ask for the same few. */
const written = new WeakMap<StandardSchema, ConfigSchema | null>();

function write(schema: StandardSchema): ConfigSchema | null {
  try {
    const said = written2020(schema);
    if (typeof said !== "object" || said === null) return null;
    // A copy without anything that JSON has not, functions above all: it goes over HTTP.
    const text = JSON.stringify(said);
    return text.length > LONGEST ? null : (JSON.parse(text) as ConfigSchema);
  } catch {
    return null;
  }
}

function written2020(schema: StandardSchema): unknown {
  const standard = schema["~standard"];
  // A bot's own copy of zod reads as ours does; what has no JSON form in it becomes "anything".
  if (standard.vendor === "zod" && "_zod" in schema)
    return z.toJSONSchema(schema as never, { io: "input", target: "draft-2020-12", unrepresentable: "any" });
  return (standard as SaysItself).jsonSchema?.input?.({ target: "draft-2020-12" }) ?? null;
}

/** Settings that every bot has on a number, whether or not its schema knows them. */
export const EVERY_BOTS = ["locale", "handback"] as const;
/** Such schemas may take keys that they do not list. */
const MORE_KEYS = ["additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];

/**
 * Settings that the bot's schema does not know, one line for each. Most libraries drop them without a word, and the bot works
 * as if they had not been written.
 *
 * @param schema as {@link configSchemaOf} gives it; one that may take any key knows all
 */
export function unknownSettings(
  schema: ConfigSchema | null,
  config: Readonly<Record<string, unknown>>,
): string[] {
  const { properties, type } = (schema ?? {}) as { properties?: object; type?: unknown };
  const isOpen = MORE_KEYS.some((key) => schema?.[key] !== undefined && schema[key] !== false);
  if (type !== "object" || properties === undefined || isOpen) return [];
  const known: string[] = [...Object.keys(properties), ...EVERY_BOTS];
  return Object.keys(config)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const meant = nearest(key, known);
      const name = JSON.stringify(key.slice(0, LONGEST_NAME));
      return meant === null
        ? `${name} is not known. The bot's settings: ${Object.keys(properties).join(", ") || "none"}.`
        : `${name} is not known: did you mean ${JSON.stringify(meant)}?`;
    });
}

const LONGEST_NAME = 100;
