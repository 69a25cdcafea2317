/** A value as it comes back from storage. It was stored as JSON: a Date comes back as text, a Map as an empty object. */
export type Kept<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(...args: never): infer Json }
    ? Kept<Json>
    : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
      ? Record<string, never>
      : T extends object
        ? { -readonly [K in keyof T]: Kept<T[K]> }
        : T;
