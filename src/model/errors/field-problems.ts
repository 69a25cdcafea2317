import type { z } from "zod";
import { FLAG_WORDS } from "../flags.ts";

/** Texts per field, as `errors.fields` carries them. */
export type FieldProblems = Record<string, string[]>;

/** What is told of a field that is not there. */
export const REQUIRED = "Is required.";
/** No list of problems is longer: nobody reads more, and each may be a megabyte's only answer. */
export const MOST_PROBLEMS = 20;
/** Names of fields are the caller's own words where an object may have any. */
const LONGEST_NAME = 200;

/** Nested fields are written `bots.0.id`. */
const nameOf = ({ path }: z.core.$ZodIssue): string =>
  (path.map(String).join(".") || "body").slice(0, LONGEST_NAME).toWellFormed();

/** All fields that are wrong: how many there are is told, also of those that are not named. */
export const wrongFields = (issues: readonly z.core.$ZodIssue[]): Set<string> => new Set(issues.map(nameOf));

/** Names the first wrong fields and says what each should be. */
export function fieldProblems(issues: readonly z.core.$ZodIssue[]): FieldProblems {
  // A map, because a field may be called `__proto__`.
  const problems = new Map<string, string[]>();
  const ofAnotherKind = new Set<string>();
  for (const issue of issues.slice(0, MOST_PROBLEMS)) {
    const name = nameOf(issue);
    // How long a list is does not matter where text is wanted.
    if (ofAnotherKind.has(name)) continue;
    if (issue.code === "invalid_type") ofAnotherKind.add(name);
    problems.set(name, [...(problems.get(name) ?? []), describe(issue)]);
  }
  return Object.fromEntries(problems);
}

/** The first of them, over all fields together. */
export function atMost(problems: FieldProblems): FieldProblems {
  const single = Object.entries(problems).flatMap(([name, texts]) => texts.map((text) => ({ name, text })));
  const kept = single.slice(0, MOST_PROBLEMS);
  return Object.fromEntries(
    [...new Set(kept.map(({ name }) => name))].map((name) => [
      name,
      kept.filter((one) => one.name === name).map(({ text }) => text),
    ]),
  );
}

/** In our own words for every kind: what the schema library says is for developers. */
function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (typeof issue.input === "number" && issue.expected === "string") return LOST_DIGITS;
      return issue.input === undefined ? REQUIRED : `Must be ${KINDS[issue.expected] ?? "of another type"}.`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return `Must be at most ${count(issue.maximum, issue.origin)}.`;
    case "invalid_value":
      return issue.input === undefined ? REQUIRED : `Must be one of ${issue.values.join(", ")}.`;
    case "not_multiple_of":
      return `Must be a multiple of ${issue.divisor}.`;
    case "unrecognized_keys":
      return "Has unknown fields.";
    case "invalid_key":
      return said(issue.issues) ?? "Has a name that is not allowed.";
    case "invalid_element":
      return said(issue.issues) ?? "Has an entry that is not allowed.";
    case "invalid_union":
      return issue.input === undefined ? REQUIRED : "Matches none of the allowed forms.";
    default:
      // `custom` and `invalid_format`: the text stands beside the check. The library's own begin otherwise.
      return issue.message.startsWith("Invalid") ? "Does not have the expected form." : issue.message;
  }
}

/** What our own checks say of a name or an entry within. */
function said(issues: readonly z.core.$ZodIssue[]): string | null {
  return issues.length === 0 ? null : describe(issues[0]!);
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string" && issue.minimum === 1) return REQUIRED;
  return `Must be at least ${count(issue.minimum, issue.origin)}.`;
}

/** `1 character long`, `20 entries long`, `65535`. */
function count(limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? String(limit) : `${limit} ${unit[Number(limit) === 1 ? 0 : 1]} long`;
}

const UNITS: Record<string, [one: string, more: string]> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
};
const LOST_DIGITS = "Must be text: a number with a fraction, or beyond 2^53, would lose digits.";
const KINDS: Record<string, string> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: `a flag: ${FLAG_WORDS}`,
  array: "a list",
  object: "an object",
  record: "an object",
};
