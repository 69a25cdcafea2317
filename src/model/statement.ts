/** One SQL statement with positional arguments. Whoever wants something written returns these; who owns the commit runs them. */
export interface Statement {
  sql: string;
  args: (string | number | bigint | boolean | Uint8Array | null)[];
  /**
   * For a statement whose `RETURNING` is looked at: how to read the same again, after it was committed and the answer of a
   * database server was lost on its way. Without it, looking at the result throws `StorageUnavailable` then.
   */
  recover?: Pick<Statement, "sql" | "args">;
  /** It breaks a rule when what the other statements were made from is not so any more: they are to be made anew. */
  isGuard?: true;
  /** Called once it is in the database, or when nobody knows whether it is; never when its commit has failed. */
  onCommitted?: () => void;
}
