import { StartError } from "../model/errors/errors.ts";
import { keepAlive, type Time } from "../model/time.ts";
import type { LeaseTable, NodeFacts } from "./lease-table.ts";

interface Naming {
  node: string;
  leaseMs: number;
  table: Pick<LeaseTable, "enter" | "nameLasts">;
  time: Pick<Time, "pause">;
}

/** Part of a lease: how often a name is looked at that somebody has. One that lives renews it twice as seldom. */
const LOOK = 1 / 6;

/** For the log and for whoever starts a second process of the same name. */
export const nameIsTaken = (node: string): string =>
  `NODE_NAME ${node} belongs to another process that runs on this database: give each node its own name, or remove the setting.`;

/**
 * Takes a name. One whose process has died is free when its time is over, which is waited for; one that is renewed meanwhile
 * belongs to a process that lives.
 *
 * @throws {StartError} when that is so
 */
export async function takeName({ node, leaseMs, table, time }: Naming, facts: NodeFacts): Promise<void> {
  let known: number | null = null;
  while (!(await table.enter(facts))) {
    const until = await table.nameLasts();
    if (known !== null && until !== null && until > known) throw new StartError(nameIsTaken(node));
    known = until ?? known;
    await keepAlive(time.pause(leaseMs * LOOK));
  }
}
