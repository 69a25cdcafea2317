import type { z } from "zod";

/** Texts per field, as `errors.fields` carries them. */
export type FieldProblems = Record<string, string[]>;

/** What is told of a field that is not there. */
export const REQUIRED = "Is required.";

/** Names each wrong field and says what it should be. Nested fields are written `bots.0.id`. */
export function fieldProblems(issues: readonly z.core.$ZodIssue[]): FieldProblems {
  const problems: FieldProblems = {};
  for (const issue of issues) {
    const name = issue.path.map(String).join(".") || "body";
    (problems[name] ??= []).push(describe(issue));
  }
  return problems;
}

function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (typeof issue.input === "number" && issue.expected === "string") return LOST_DIGITS;
      return issue.input === undefined ? REQUIRED : `Must be ${KINDS[issue.expected] ?? issue.expected}.`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return `Must be at most ${issue.maximum}${UNITS[issue.origin] ?? ""}.`;
    case "invalid_value":
      return issue.input === undefined ? REQUIRED : `Must be one of ${issue.values.join(", ")}.`;
    default:
      return issue.message;
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string" && issue.minimum === 1) return REQUIRED;
  return `Must be at least ${issue.minimum}${UNITS[issue.origin] ?? ""}.`;
}

const LOST_DIGITS = "Must be text: a number with a fraction, or beyond 2^53, is not read as one.";
const UNITS: Record<string, string> = { string: " characters long", array: " entries long" };
const KINDS: Record<string, string> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "a flag (1, 0, true or false)",
  array: "a list",
  object: "an object",
  record: "an object",
};
