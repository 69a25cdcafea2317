/** Built by `nitro.config.ts` from the files in `bots/`. */
declare module "#bots" {
  /** Id → function that imports the bot's module. */
  const bots: Record<string, () => Promise<{ default?: unknown }>>;
  export default bots;
}
