/** The bots of `bots/`, listed by the build: id → a function that imports the file; and `locales/<language>.json`. */
declare module "#bots" {
  const bots: Record<string, () => Promise<unknown>>;
  export const locales: Record<string, unknown>;
  export default bots;
}
