import type { Cluster } from "../model/nodes/cluster.ts";

/** Work on everybody's rows, of which each piece is done by one of the processes. */
export interface SharedChore {
  /** Takes pieces that others give away. */
  start(): void;
  /** Somebody does this piece: another process soon, or this one, and then it is done when this resolves. */
  give(id: string): Promise<void>;
}

/**
 * @param kind name of its jobs, letters
 * @param run  does a piece. Two processes may do the same one, or nobody: whoever gives pieces gives them again
 */
export function createSharedChore(
  { jobs }: Pick<Cluster, "jobs">,
  kind: string,
  run: (id: string) => Promise<void>,
): SharedChore {
  return {
    start: () => jobs.work(kind, run, { concurrency: 1 }),
    async give(id) {
      if (!(await jobs.add(kind, id))) await run(id);
    },
  };
}
