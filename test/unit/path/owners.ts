import { NotOwner } from "../../../src/store/errors.ts";
import type { Store, Writer } from "../../../src/store/store.ts";

/** Who has which number, as a lease table would say it: one process at a time. */
export interface Owners {
  give(deviceId: number, to: string): void;
  has(deviceId: number, who: string): boolean;
  /** The database in the hands of one of them: what it writes for a number that another has is refused. */
  fenced(store: Store, who: string): Store;
}

export function createOwners(): Owners {
  const owners = new Map<number, string>();
  const has: Owners["has"] = (deviceId, who) => owners.get(deviceId) === who;
  return {
    give: (deviceId, to) => void owners.set(deviceId, to),
    has,
    fenced(store, who) {
      const guarded =
        (how: "commit" | "soon"): Writer["commit"] =>
        async (statements, options) => {
          const owning = options?.owning;
          if (owning !== undefined && owning !== null && !has(owning, who)) throw new NotOwner(owning);
          return store.writer[how](statements, options);
        };
      const { drain } = store.writer;
      return { ...store, writer: { commit: guarded("commit"), soon: guarded("soon"), drain } };
    },
  };
}
