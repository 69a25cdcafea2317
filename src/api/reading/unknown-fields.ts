import type { z } from "zod";
import type { FieldProblems } from "../../model/errors/field-problems.ts";

/** No field's name is nearly as long; what is longer is compared, and shown, by its beginning. */
const LONGEST_NAME = 64;

/**
 * Fields that a schema does not know, with the nearest that it does: a setting that is misspelt must not be taken for one
 * that was left out.
 *
 * @param most problems to tell of
 * @returns by the path of each, `bots.0.prioritty`, and how many there are
 */
export function unknownFields(
  schema: z.ZodType,
  value: unknown,
  most: number,
): { problems: FieldProblems; total: number } {
  const problems = new Map<string, string[]>();
  let total = 0;
  look(schema, value, "");
  return { problems: Object.fromEntries(problems), total };

  function look(description: z.ZodType, given: unknown, path: string): void {
    if (typeof given !== "object" || given === null) return;
    const { type, shape, element } = innermost(description);
    if (type === "array" && Array.isArray(given)) {
      for (const [index, entry] of given.entries()) look(element!, entry, `${path}${index}.`);
    } else if (type === "object" && !Array.isArray(given)) {
      for (const [name, inner] of Object.entries(given)) {
        if (Object.hasOwn(shape!, name)) look(shape![name]!, inner, `${path}${name}.`);
        // Looking for the nearest of many thousands would take long.
        else if (++total <= most)
          problems.set(path + name.slice(0, LONGEST_NAME), [unknownField(name, Object.keys(shape!))]);
      }
    }
  }
}

function unknownField(name: string, known: string[]): string {
  if (name === "api_key") return "Is not read here: send the key as Authorization: Bearer.";
  const nearest = known.toSorted((a, b) => distance(name, a) - distance(name, b))[0];
  return nearest === undefined
    ? "Is not a field of this endpoint."
    : `Is not a field of this endpoint; the nearest is "${nearest}".`;
}

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
}

/** What stands under defaults, optionals and preprocessing. */
function innermost(schema: z.ZodType): Definition {
  const definition = schema.def as unknown as Definition;
  const { type, innerType, in: before, out } = definition;
  if (innerType !== undefined) return innermost(innerType);
  if (type !== "pipe") return definition;
  return innermost((before!.def as unknown as Definition).type === "transform" ? out! : before!);
}

/** Levenshtein's, letter case aside. */
function distance(a: string, b: string): number {
  const from = a.slice(0, LONGEST_NAME).toLowerCase();
  const to = b.toLowerCase();
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[to.length]!;
}
