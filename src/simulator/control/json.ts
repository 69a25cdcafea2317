/** JSON that keeps byte strings: each becomes `{"$bytes": "<base64>"}`. */

const MARK = "$bytes";

/** JSON of any value; byte strings survive. */
export function toJson(value: unknown): string {
  // A function with its own `this`, because Buffers have turned into plain objects by the time a replacer sees them.
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, given: unknown) {
    const original = this[key];
    return original instanceof Uint8Array ? { [MARK]: Buffer.from(original).toString("base64") } : given;
  });
}

/** @throws when the text is not JSON */
export function fromJson(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    const base64 = (value as Record<string, unknown> | null)?.[MARK];
    return typeof base64 === "string" ? Buffer.from(base64, "base64") : value;
  });
}
