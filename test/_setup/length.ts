/** `npm run test:long` does the whole of what `npm test` does a part of. */
export const isLong = process.env["PARLEY_TEST_LONG"] === "1";

/** All of them in a long run, else every `each`-th, beginning with the first. */
export const someOf = <T>(all: readonly T[], each: number): T[] =>
  isLong ? [...all] : all.filter((_, index) => index % each === 0);
