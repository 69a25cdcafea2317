/** The bots of `bots/`, listed by the build: id → a function that imports the file; and `locales/<language>.json`. */
declare module "#bots" {
  const bots: Record<string, () => Promise<unknown>>;
  export const locales: Record<string, unknown>;
  /** In development: the folder that the bots are read from, instead of those above; null in a build. */
  export const sources: string | null;
  export default bots;
}
