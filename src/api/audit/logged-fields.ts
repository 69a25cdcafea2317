import { iso } from "../views/views.ts";

/**
 * Fields of requests whose values may stand in the log of changes, by their path. Everything else is "(given)": a field that
 * is added later stands there with its name alone, whatever it holds, until somebody has thought about it.
 */
const SHOWN = new Set(
  `name plan enabled permissions devices recipients expires_at
  device sender channel account minutes calls
  url mode reply_to events timeout_ms reply_max_age read typing
  bots bots.id bots.enabled bots.priority`.split(/\s+/),
);

const GIVEN = "(given)";
const LONGEST_TEXT = 200;
const MOST_ENTRIES = 20;

/**
 * What of a request may stand in the log of changes.
 *
 * @param given names that the request has
 * @param input what they mean, checked
 * @returns null when it has none that the endpoint knows
 */
export function loggedFields(
  given: Record<string, unknown>,
  input: Record<string, unknown>,
): Record<string, unknown> | null {
  const names = Object.keys(input).filter((name) => Object.hasOwn(given, name) && input[name] !== undefined);
  if (names.length === 0) return null;
  return Object.fromEntries(names.map((name) => [name, shown(name, input[name])]));
}

function shown(path: string, value: unknown): unknown {
  if (!SHOWN.has(path)) return GIVEN;
  if (Array.isArray(value)) {
    const some = value.slice(0, MOST_ENTRIES).map((entry) => shown(path, entry));
    return value.length > MOST_ENTRIES ? [...some, `and ${value.length - MOST_ENTRIES} more`] : some;
  }
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, shown(`${path}.${name}`, inner)]),
    );
  if (typeof value === "number" && path.endsWith("_at")) return iso(value);
  return typeof value === "string" ? textOf(value) : value;
}

/** Of an address the host: what stands behind it is often what the other side lets its callers in by. */
function textOf(text: string): string {
  const address = /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  return address === null ? text.slice(0, LONGEST_TEXT) : `${address.origin}/…`;
}
