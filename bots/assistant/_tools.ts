import type { Config, Tool } from "./_config.ts";
import type { Call } from "./_stream.ts";

/** What a call of the model comes to. */
export type Chosen =
  | { tool: string; input: Record<string, unknown> }
  /** Why nothing comes of it; the model is told. */
  | { refused: string };

/** The tool that is always there: a person takes over. */
export const PERSON = "talk_to_a_person";
const LONGEST_VALUE = 500;

/** Tools as the API wants them described. */
export function describeTools({ tools }: Config): object[] {
  const described = tools.map(({ name, description, arguments: wanted }) => ({
    name,
    description,
    parameters: {
      type: "object",
      additionalProperties: false,
      required: Object.keys(wanted).filter((key) => wanted[key]!.required),
      properties: Object.fromEntries(
        Object.entries(wanted).map(([key, { type, description: about, choices }]) => [
          key,
          { type, ...(about && { description: about }), ...(choices && { enum: choices }) },
        ]),
      ),
    },
  }));
  const person = {
    name: PERSON,
    description: "Hands the chat over to a person: when asked for one, or when you cannot help.",
    parameters: { type: "object", properties: {} },
  };
  return [...described, person].map((one) => ({ type: "function", function: one }));
}

/**
 * Reads a call. A tool is one of the list, by its exact name, and its arguments are those that the list names, each of its type:
 * whatever the model was talked into, nothing else can come of it.
 */
export function readCall({ tools }: Config, { name, arguments: json }: Call): Chosen {
  if (name === PERSON) return { tool: PERSON, input: {} };
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return { refused: `There is no tool ${JSON.stringify(name.slice(0, 50))}.` };
  let given: unknown;
  try {
    given = JSON.parse(json.trim() === "" ? "{}" : json);
  } catch {
    return { refused: "The arguments are no JSON." };
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { refused: "The arguments are no object." };
  const problem = problemOf(tool, given as Record<string, unknown>);
  return problem === null
    ? { tool: tool.name, input: { ...(given as Record<string, unknown>) } }
    : { refused: problem };
}

function problemOf({ arguments: wanted }: Tool, given: Record<string, unknown>): string | null {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(wanted, key));
  if (unknown !== undefined) return `There is no argument ${JSON.stringify(unknown.slice(0, 50))}.`;
  for (const [key, { type, choices, required }] of Object.entries(wanted)) {
    const value = given[key];
    if (value === undefined && !required) continue;
    if (typeof value !== type || (typeof value === "number" && !Number.isFinite(value)))
      return `The argument ${key} must be a ${type}.`;
    if (typeof value === "string" && value.length > LONGEST_VALUE) return `The argument ${key} is too long.`;
    if (choices && !choices.includes(value as string))
      return `The argument ${key} must be one of ${choices.join(", ")}.`;
  }
  return null;
}
