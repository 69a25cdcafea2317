/** A value as it comes back from where it was kept, as JSON: a Date is its text, a Map is empty. */
export type Kept<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(...args: never): infer Json }
    ? Kept<Json>
    : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
      ? Record<string, never>
      : T extends object
        ? { -readonly [K in keyof T]: Kept<T[K]> }
        : T;
