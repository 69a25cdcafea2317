/** Undoes something. `failed` says whether the demo ended by a failure. */
type Undo = (failed: boolean) => Promise<unknown>;

/** What must not outlive the demo, undone last first. One that fails does not stop the others. */
export interface Cleanup {
  add(undo: Undo): void;
  run(failed: boolean): Promise<void>;
}

/** Keeps the process alive when there is no terminal to wait for; it never resolves. */
export function stayUp(cleanup: Cleanup): Promise<never> {
  const alive = setInterval(() => {}, 60_000);
  cleanup.add(async () => clearInterval(alive));
  return new Promise<never>(() => {});
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
