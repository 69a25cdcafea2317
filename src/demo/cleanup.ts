/** Undoes something. `failed` says whether the demo ended by a failure. */
type Undo = (failed: boolean) => Promise<unknown>;

/** What must not outlive the demo, undone last first. One that fails does not stop the others. */
export interface Cleanup {
  add(undo: Undo): void;
  run(failed: boolean): Promise<void>;
}

/** An empty list. What fails while it is undone is passed over: the rest is undone all the same. */
export function createCleanup(): Cleanup {
  const undos: Undo[] = [];
  return {
    add: (undo) => void undos.push(undo),
    async run(failed) {
      for (let undo = undos.pop(); undo; undo = undos.pop()) await undo(failed).catch(() => {});
    },
  };
}
