import { readFlag } from "../model/flags.ts";

/** Whether a value of parsed JSON is an object: no list, not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Flags as everywhere on the HTTP surface; what is none asks for nothing. */
export const isFlag = (value: unknown): boolean => readFlag(value) === true;

/** The first field with something to say, of those that carry text. */
export function textOf(value: Record<string, unknown>): string | null {
  const fields = [value.message, value.text, value.reply].filter(
    (field) => typeof field === "string" || (typeof field === "number" && Number.isFinite(field)),
  );
  const said = fields.find((field) => String(field).trim() !== "") ?? fields[0];
  return said === undefined ? null : String(said);
}
