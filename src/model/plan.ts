import { StartError } from "./errors/errors.ts";

/** What an account may use; null is no limit. The field names are those of the setting and of `GET /account`. */
export interface Plan {
  devices: number | null;
  keys: number | null;
  sends_per_day: number | null;
}

/**
 * @param setting `PLAN_BASIC` or `PLAN_PRO`, for the error
 * @param text its JSON, or null when it is not set; limits that it leaves out keep their default
 * @throws {StartError} when it is not an object of whole numbers and nulls, or names a limit that does not exist
 */
export function readPlan(setting: string, text: string | null, defaults: Plan): Plan {
  if (text === null) return defaults;
  const given = parseObject(text);
  const known = Object.keys(defaults);
  if (
    given === null ||
    !Object.entries(given).every(([name, limit]) => known.includes(name) && isLimit(limit))
  )
    throw new StartError(
      `${setting} must be JSON like ${JSON.stringify(defaults)}: whole numbers, or null for no limit.`,
    );
  return { ...defaults, ...given };
}

function isLimit(value: unknown): boolean {
  return value === null || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
