import type { ResultSet } from "@libsql/client";
import { PARTITIONS } from "../model/nodes/cluster.ts";
import { DATABASE_NOW, leaseList, type Lease } from "../store/write/lease-fence.ts";
import type { ServerClient } from "../store/server/client.ts";

/** A partition as the database has it, at the moment of the answer. */
export interface PartitionView {
  /** Who has it, or had it last; null: nobody ever had it. */
  node: string | null;
  /** The node that it was given to and has still to take it. */
  heir: string | null;
  epoch: number;
  /** Milliseconds that the lease still lasts; 0 or less: since when it is over. */
  leftMs: number;
}

/** A process whose last sign of life still counts. */
export interface NodeView {
  name: string;
  /** It gives away what it has, and is given nothing. */
  leaving: boolean;
}

/** What a node says of itself with every sign of life. */
export interface NodeFacts {
  url: string | null;
  version: string;
  leaving: boolean;
  numbers: number;
  lagMs: number;
}

/** What the database answers to a sign of life. */
export interface Look {
  /** False: another process has taken the name of this one, which was not heard of for longer than its leases. */
  nameKept: boolean;
  /** The leases that last for another full time. */
  renewed: Lease[];
  /** By partition. */
  partitions: PartitionView[];
  nodes: NodeView[];
}

/** What a node asks of the tables `leases` and `nodes`. Each call is one transaction, and may be done twice. */
export interface LeaseTable {
  /** Makes the 256 rows where there are none, and forgets nodes that have been gone for a day. */
  prepare(): Promise<void>;
  /** Takes or keeps the name. @returns false while another process has it */
  enter(facts: NodeFacts): Promise<boolean>;
  /** Until when the name lasts for the process that has it; null: nobody has it. */
  nameLasts(): Promise<number | null>;
  /** Renews all of its leases in one statement, says that it lives, and looks around. */
  beat(held: readonly Lease[], facts: NodeFacts): Promise<Look>;
  /** Takes partitions that are as they were seen, each under a new epoch. @returns those that it has got */
  take(seen: readonly Lease[]): Promise<Lease[]>;
  /** Ends leases at once. @param heir null: whoever comes first may take them */
  free(leases: readonly Lease[], heir: string | null): Promise<void>;
  /** The name is free again. */
  leave(): Promise<void>;
}

interface TableOptions {
  server: Pick<ServerClient, "ask">;
  node: string;
  /** Of this run of the process. */
  incarnation: string;
  leaseMs: number;
}

/** The part of a lease for which what was given away is kept for the one that it was given to. */
export const RESERVED = 1 / 5;

const PREPARE = `WITH RECURSIVE each_one(p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM each_one WHERE p < ${PARTITIONS - 1})
  INSERT OR IGNORE INTO leases (p, epoch, until) SELECT p, 0, 0 FROM each_one`;
const FORGET = `DELETE FROM nodes WHERE until < ${DATABASE_NOW} - 86400000`;
const ENTER = `INSERT INTO nodes (name, incarnation, url, version, leaving, numbers, lag_ms, since, until)
  VALUES (?, ?, ?, ?, ?, ?, ?, ${DATABASE_NOW}, ${DATABASE_NOW} + ?)
  ON CONFLICT (name) DO UPDATE SET
    since = CASE WHEN incarnation = excluded.incarnation THEN since ELSE excluded.since END,
    incarnation = excluded.incarnation, url = excluded.url, version = excluded.version, leaving = excluded.leaving,
    numbers = excluded.numbers, lag_ms = excluded.lag_ms, until = excluded.until
  WHERE incarnation = excluded.incarnation OR until <= ${DATABASE_NOW}
  RETURNING name`;
const NAME_LASTS = "SELECT until FROM nodes WHERE name = ?";
const RENEW = `UPDATE leases SET until = ${DATABASE_NOW} + ? FROM json_each(?) AS held
  WHERE p = held.value ->> 0 AND epoch = held.value ->> 1 AND until > ${DATABASE_NOW}
  RETURNING p, epoch`;
const PARTITIONS_NOW = `SELECT p, node, heir, epoch, until - ${DATABASE_NOW} AS left_ms FROM leases ORDER BY p LIMIT ${PARTITIONS}`;
const NODES_NOW = `SELECT name, leaving FROM nodes WHERE until > ${DATABASE_NOW} ORDER BY name LIMIT 1000`;
// What still has its own name and that it does not know of, it has got by a request whose answer was lost. What was given
// to another node is that one's for a while, also when it was seen before that: nobody takes back what it has just given.
const TAKE = `UPDATE leases SET node = ?, heir = NULL, epoch = epoch + 1, until = ${DATABASE_NOW} + ?
  FROM json_each(?) AS seen
  WHERE p = seen.value ->> 0 AND epoch = seen.value ->> 1 AND (until <= ${DATABASE_NOW} OR node = ?)
    AND (heir IS NULL OR heir = ? OR until <= ${DATABASE_NOW} - ?)
    AND EXISTS (SELECT 1 FROM nodes WHERE name = ? AND incarnation = ?)
  RETURNING p, epoch`;
const FREE = `UPDATE leases SET until = ${DATABASE_NOW}, heir = ? FROM json_each(?) AS held
  WHERE p = held.value ->> 0 AND epoch = held.value ->> 1 AND until > ${DATABASE_NOW}`;
// The row stays for a day, with the address at which its files may still be found.
const LEAVE = `UPDATE nodes SET until = ${DATABASE_NOW}, numbers = 0 WHERE name = ? AND incarnation = ? AND until > ${DATABASE_NOW}`;

/** The tables of one node. All times are the database's own. */
export function createLeaseTable({ server, node, incarnation, leaseMs }: TableOptions): LeaseTable {
  const write = (...statements: { sql: string; args: (string | number | null)[] }[]): Promise<ResultSet[]> =>
    server.ask((client) => client.batch(statements, "write"));
  const enter = ({ url, version, leaving, numbers, lagMs }: NodeFacts) => ({
    sql: ENTER,
    args: [node, incarnation, url, version, leaving ? 1 : 0, numbers, Math.round(lagMs), leaseMs],
  });

  return {
    async prepare() {
      await write({ sql: PREPARE, args: [] }, { sql: FORGET, args: [] });
    },
    async enter(facts) {
      const [entered] = await write(enter(facts));
      return entered!.rows.length > 0;
    },
    async nameLasts() {
      const [found] = await write({ sql: NAME_LASTS, args: [node] });
      return found!.rows.length === 0 ? null : Number(found!.rows[0]!.until);
    },
    async beat(held, facts) {
      const [entered, renewed, partitions, nodes] = await write(
        enter(facts),
        { sql: RENEW, args: [leaseMs, leaseList(held)] },
        { sql: PARTITIONS_NOW, args: [] },
        { sql: NODES_NOW, args: [] },
      );
      return {
        nameKept: entered!.rows.length > 0,
        renewed: toLeases(renewed!),
        partitions: partitions!.rows.map(toPartition),
        nodes: nodes!.rows.map(({ name, leaving }) => ({
          name: String(name),
          leaving: Number(leaving) === 1,
        })),
      };
    },
    async take(seen) {
      const args = [node, leaseMs, leaseList(seen), node, node, leaseMs * RESERVED, node, incarnation];
      const [taken] = await write({ sql: TAKE, args });
      return toLeases(taken!);
    },
    async free(leases, heir) {
      await write({ sql: FREE, args: [heir, leaseList(leases)] });
    },
    async leave() {
      await write({ sql: LEAVE, args: [node, incarnation] });
    },
  };
}

const toLeases = ({ rows }: ResultSet): Lease[] =>
  rows.map(({ p, epoch }) => ({ partition: Number(p), epoch: Number(epoch) }));

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

const toPartition = ({ node, heir, epoch, left_ms: left }: ResultSet["rows"][number]): PartitionView => ({
  node: textOrNull(node),
  heir: textOrNull(heir),
  epoch: Number(epoch),
  leftMs: Number(left),
});
