import type { ResultSet } from "@libsql/client";
import type { Statement } from "../../model/statement.ts";
import { StorageUnavailable } from "../errors.ts";

/**
 * Results of statements that are known to be committed, while the answer that had them was lost. What can be read again
 * is; of the rest, whoever only wants to know that it is stored goes on, and whoever looks at a result is told that it
 * cannot be known.
 *
 * @param read reads what was committed; when it fails nothing can be read again
 */
export async function recoverResults(
  statements: Statement[],
  read: (statements: Statement[]) => Promise<ResultSet[]>,
): Promise<ResultSet[]> {
  const readable = statements.flatMap(({ recover }) => recover ?? []);
  const found = readable.length === 0 ? [] : await read(readable).catch(() => []);
  let next = 0;
  return statements.map(({ recover }) => (recover && found[next++]) ?? lostResult());
}

function lost(): never {
  throw new StorageUnavailable("it was written, but its answer was lost");
}

function lostResult(): ResultSet {
  return {
    get columns(): string[] {
      return lost();
    },
    get columnTypes(): string[] {
      return lost();
    },
    get rows() {
      return lost();
    },
    get rowsAffected(): number {
      return lost();
    },
    get lastInsertRowid(): bigint {
      return lost();
    },
    toJSON: lost,
  };
}
