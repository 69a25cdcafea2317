import type { ResultSet } from "@libsql/client";
import type { CommitOptions, Statement, Store, Writer } from "../../store/store.ts";

/** Where a run is ended, relative to a commit. */
export type Side = "before" | "after";

/** Asked before each commit of a run; an answer ends the run there. */
export type CrashPlan = (statements: Statement[]) => Side | null;

/** Whether a run still lives, and what it is doing. */
export interface GatewayLife {
  readonly over: boolean;
  /** Things that are under way and end by themselves. */
  inFlight: number;
  /** Commits that have ended: as long as it stays the same, so does the database. */
  commits: number;
  /** From now on nothing of this run reaches the database or the line, whatever its code still does. */
  end(): void;
}

/** @param onEnd called once, when the run is ended from within */
export function createLife(onEnd: () => void): GatewayLife {
  let over = false;
  return {
    inFlight: 0,
    commits: 0,
    get over() {
      return over;
    },
    end() {
      if (over) return;
      over = true;
      onEnd();
    },
  };
}

/** What somebody waits for who is not there any more. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** The store as one run sees it: with the end of the run it falls silent, as for a process that was killed. */
export function mortalStore(store: Store, life: GatewayLife, plan: CrashPlan): Store {
  return {
    ...store,
    get state() {
      return store.state;
    },
    read: (query, args) => (life.over ? never() : store.read(query, args)),
    readOne: (query, args) => (life.over ? never() : store.readOne(query, args)),
    async *pages(query, argsAfter, rows) {
      for await (const page of store.pages(query, argsAfter, rows)) yield life.over ? await never() : page;
    },
    writer: {
      drain: () => (life.over ? never() : store.writer.drain()),
      commit: (statements, options) => committed(statements, store.writer.commit, options),
      soon: (statements, options) => committed(statements, store.writer.soon, options),
    },
  };

  async function committed(
    statements: Statement[],
    commit: Writer["commit"],
    options?: CommitOptions,
  ): Promise<ResultSet[]> {
    if (life.over) return never();
    const side = statements.length === 0 ? null : plan(statements);
    if (side === "before") return (life.end(), never());
    life.inFlight++;
    try {
      const results = await commit(statements, options);
      if (side === "after") life.end();
      return life.over ? never() : results;
    } catch (error) {
      return life.over ? never() : Promise.reject(error);
    } finally {
      life.inFlight--;
      life.commits++;
    }
  }
}
