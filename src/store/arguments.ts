import type { Statement } from "./store.ts";

/**
 * What is wrong with a statement's arguments, or null. The drivers differ in what they make of `undefined` and `NaN`, and
 * one of them ends the process.
 */
export function wrongArgument({ sql, args }: Statement): string | null {
  for (let index = 0; index < args.length; index++) {
    const value = args[index];
    if (value === undefined || (typeof value === "number" && !Number.isFinite(value)))
      return `Argument ${index + 1} of "${sql}" is ${value}: the database cannot store this value.`;
  }
  return null;
}
