import type { Schemas } from "../../../client/index.ts";

/** A number as `GET /devices` shows it. */
export type Device = Schemas["Device"];
/** The answer of `GET /devices/{number}/why`. */
export type Why = Schemas["Why"];

/** In these states a code can be asked for. */
export const canLink = (state: Device["state"]): boolean => state !== "connected" && state !== "connecting";

/** Digits of what somebody wrote as a number: signs and one leading `00` are left out; null when that is no number. */
export function digitsOf(written: string): string | null {
  const digits = written.replace(/[\s+().-]/g, "").replace(/^00/, "");
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : null;
}
