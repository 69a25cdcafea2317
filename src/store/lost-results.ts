import type { ResultSet } from "@libsql/client";
import { StorageUnavailable } from "./errors.ts";

/**
 * Results of statements that are known to be committed, while the answer that had them was lost: whoever only wants to
 * know that it is stored goes on, and whoever looks at a result is told that it cannot be known.
 */
export const lostResults = (count: number): ResultSet[] => Array.from({ length: count }, lostResult);

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
