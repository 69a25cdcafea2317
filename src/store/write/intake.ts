import type { ResultSet } from "@libsql/client";
import type { Statement } from "../../model/statement.ts";
import type { CommitOptions, Writer } from "../store.ts";

/**
 * What storing something takes, handed to whoever makes the commit: it may be one that holds more than this, as that of a
 * received message holds the ratchet that has decrypted it.
 */
export interface Intake {
  statements: Statement[];
  /**
   * To be called once, right after the commit; never throws.
   *
   * @param results those of `statements`, in their order
   */
  committed(results: ResultSet[]): void;
}

/** Nothing to store. */
export const NO_INTAKE: Intake = { statements: [], committed: () => undefined };

/** Several that belong into one commit, as one. */
export function joinIntakes(...intakes: Intake[]): Intake {
  return {
    statements: intakes.flatMap(({ statements }) => statements),
    committed(results) {
      let from = 0;
      for (const { statements, committed } of intakes) {
        committed(results.slice(from, from + statements.length));
        from += statements.length;
      }
    },
  };
}

/**
 * Commits what belongs to no other commit.
 *
 * @throws StorageUnavailable nothing was stored
 */
export async function commitIntake(
  writer: Pick<Writer, "commit">,
  { statements, committed }: Intake,
  options?: CommitOptions,
): Promise<void> {
  committed(await writer.commit(statements, options));
}
