import { hostname } from "node:os";
import { nodes } from "../../drizzle/schema.ts";
import packageJson from "../../package.json" with { type: "json" };
import { PARTITIONS } from "../model/nodes/cluster.ts";
import { DATABASE_NOW } from "../store/write/lease-fence.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Base } from "./data.ts";

/** A process that serves these numbers, as the operator sees it. */
export interface NodeRecord {
  node: string;
  /** How many of the 256 it has. */
  partitions: number;
  /** Numbers in them. */
  numbers: number;
  /** The longest time that its event loop stood still in the last five minutes; 0: none worth naming. */
  lagMs: number;
  version: string;
  since: number;
}

/** Whoever runs on this database. */
export interface Nodes {
  /** Those that are alive, by name. A process that is alone is the one. */
  list(): Promise<NodeRecord[]>;
}

const LIVING = defineQuery(
  `SELECT name, numbers, lag_ms, version, since,
    (SELECT count(*) FROM leases WHERE leases.node = nodes.name AND leases.until > ${DATABASE_NOW}) AS partitions
  FROM nodes WHERE until > ${DATABASE_NOW} ORDER BY name LIMIT 1000`,
  {
    node: nodes.name,
    numbers: nodes.numbers,
    lagMs: nodes.lagMs,
    version: nodes.version,
    since: nodes.since,
    partitions: integer(),
  },
);

/** @param self what only this process knows of itself */
export function openNodes(
  { store, cluster }: Pick<Base, "store" | "cluster">,
  self: { ids(): readonly unknown[]; lagMs(): number },
): Nodes {
  const since = store.now();
  return {
    async list() {
      if (cluster.node !== null) return store.read(LIVING);
      const { version } = packageJson;
      const numbers = self.ids().length;
      return [{ node: hostname(), partitions: PARTITIONS, numbers, lagMs: self.lagMs(), version, since }];
    },
  };
}
