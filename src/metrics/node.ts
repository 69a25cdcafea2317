import type { Gauge } from "prom-client";
import { PARTITIONS } from "../model/nodes/cluster.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** This process as one of several. */
export interface MeasuredNode {
  name: string;
  /** Whether it has the number now. */
  owns(deviceId: number): boolean;
  redisIsAway(): boolean;
}

/** Makes a gauge under `parley_`. */
export type MakeGauge = <L extends string>(name: string, help: string, labelNames: L[]) => Gauge<L>;

const CLAIMS = defineQuery(
  "SELECT count(*) AS n FROM delivery_claims WHERE until > CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  { n: integer() },
);

/** The number whose id is that of a partition stands for all in it. */
const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/** Whether this process counts what all nodes see the same. Alone it does. */
export const counts = (node: MeasuredNode | undefined): boolean => node === undefined || node.owns(0);

/** What only a node among several has. @returns looks everything up */
export function createNodeGauges(gauge: MakeGauge, store: Pick<Store, "readOne">, node: MeasuredNode) {
  const leases = gauge("leases", "Partitions of numbers that this node has, of 256 in all.", []);
  const redis = gauge("redis_up", "Whether Redis answers this node.", []);
  const claims = gauge("webhook_claims", "Chats for which some node is trying the webhook.", []);
  return async (): Promise<void> => {
    leases.set(partitions.filter(node.owns).length);
    redis.set(node.redisIsAway() ? 0 : 1);
    if (counts(node)) claims.set((await store.readOne(CLAIMS))!.n);
    else claims.remove();
  };
}
