/*
 * Whether a stored answer is still one today, from what a question is declared with alone: whoever only wants to know that
 * of thirty answers makes no field for any of them.
 */

/** @param options of `fields.text` */
export function isText(
  value: unknown,
  { min = 1, max = 4_000, pattern }: { min?: number; max?: number; pattern?: RegExp } = {},
): boolean {
  if (typeof value !== "string" || value.length < min || value.length > max) return false;
  return !pattern || withoutPlace(pattern).test(value);
}

/** A pattern with `g` or `y` looks on where it was the last time; each answer is looked at from its beginning. */
const withoutPlace = (pattern: RegExp): RegExp =>
  pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")) : pattern;

/** @param options of `fields.number` */
export const isNumber = (
  value: unknown,
  {
    min = -Infinity,
    max = Infinity,
    integer = false,
  }: { min?: number; max?: number; integer?: boolean } = {},
): boolean =>
  typeof value === "number" && value >= min && value <= max && (!integer || Number.isInteger(value));

/** @param choices of `fields.choice`: what code gives at run time was to be had when it was chosen */
export function isOffered(
  value: unknown,
  choices: Readonly<Record<string, string>> | readonly string[] | ((...of: never[]) => unknown),
): boolean {
  if (typeof choices === "function") return typeof value === "string";
  const keys = Array.isArray(choices) ? (choices as readonly string[]) : Object.keys(choices);
  return (keys as readonly unknown[]).includes(value);
}

const EMAIL = /^[^\s@<>()",;:]+@[^\s@<>()",;:]+\.[\p{L}\p{N}-]{2,}$/u;

/** Of `fields.email`. */
export const isEmail = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 254 && EMAIL.test(value);

/** Of `fields.phone`. */
export const isWritten = (value: unknown): boolean => typeof value === "string";

/** Of `fields.file` and `fields.location`. */
export const isThing = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Of `fields.confirm`. */
export const isYesOrNo = (value: unknown): boolean => typeof value === "boolean";
