/** One SQL statement with positional arguments. Whoever wants something written returns these; who owns the commit runs them. */
export interface Statement {
  sql: string;
  args: (string | number | bigint | boolean | Uint8Array | null)[];
}
