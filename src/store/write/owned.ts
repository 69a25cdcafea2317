import { NotOwner } from "../errors.ts";
import type { Store, Writer } from "../store.ts";

/** The database in the hands of whoever has a number, for as long as this process has it. */
export interface Tenure {
  /** Every unit that it commits is refused once another process has the number. */
  readonly store: Store;
  /**
   * From now on every unit is refused with `NotOwner`, whoever has the number: should it come back to this process, it is
   * another tenure, and what an earlier one has left over is worth nothing. What was given before may still be committed; it
   * is settled when the writer has drained.
   */
  end(): void;
}

/** Begins to work for a number. */
export function beginTenure(store: Store, deviceId: number): Tenure {
  let ended = false;
  const guarded =
    (commit: "commit" | "soon"): Writer["commit"] =>
    async (statements) => {
      if (ended) throw new NotOwner(deviceId);
      return store.writer[commit](statements, { owning: deviceId });
    };
  const writer: Writer = {
    commit: guarded("commit"),
    soon: guarded("soon"),
    drain: () => store.writer.drain(),
  };
  // A copy would not see the state and the settings of the one that it stands for change.
  const own = Object.create(store, { writer: { value: writer, enumerable: true } }) as Store;
  return { store: own, end: () => void (ended = true) };
}

/** False for a failure that only says that another process has the number: that is logged once, when it is given up. */
export const isWorthLogging = (error: unknown): boolean => !(error instanceof NotOwner);
