/** How deep a session is looked through; deeper ones are as JSON has them. */
const DEEPEST = 20;

/**
 * What JSON would quietly change in a value that is stored: a Map becomes `{}`, a Date a text, NaN null.
 *
 * @returns one sentence for the first, `cart is a Map: use an object`; null when the value comes back as it is
 */
export function lostInJson(value: unknown, path = "", depth = 0): string | null {
  const what = path === "" ? "it" : path;
  if (typeof value === "number" && !Number.isFinite(value))
    return `${what} is ${value}: JSON has no such number`;
  if (["bigint", "function", "symbol"].includes(typeof value)) return `${what} is a ${typeof value}`;
  if (typeof value !== "object" || value === null || depth > DEEPEST) return null;
  if (Array.isArray(value))
    return firstOf(
      [...value.keys()].map((key) => [String(key), value[key]]),
      path,
      depth,
    );
  const made = value.constructor?.name ?? "Object";
  if (Object.getPrototypeOf(value) !== null && made !== "Object")
    return `${what} is a ${made}: ${INSTEAD[made] ?? "use a plain object"}`;
  return firstOf(Object.entries(value), path, depth);
}

const INSTEAD: Record<string, string> = {
  Map: "use an object",
  Set: "use a list",
  Date: "use its number of milliseconds, or its text",
};

function firstOf(entries: [string, unknown][], path: string, depth: number): string | null {
  for (const [key, inner] of entries) {
    const lost = lostInJson(inner, path === "" ? key : `${path}.${key}`, depth + 1);
    if (lost !== null) return lost;
  }
  return null;
}
