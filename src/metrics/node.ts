import type { Gauge } from "prom-client";
import { PARTITIONS } from "../model/nodes/cluster.ts";

/** This process as one of several. */
export interface MeasuredNode {
  name: string;
  /** Whether it has the number now. */
  owns(deviceId: number): boolean;
  redisIsAway(): boolean;
}

/** Makes a gauge under `parley_`. */
export type MakeGauge = <L extends string>(name: string, help: string, labelNames: L[]) => Gauge<L>;

/** The number whose id is that of a partition stands for all in it. */
const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/** Whether this process counts what all nodes see the same. Alone it does. */
export const counts = (node: MeasuredNode | undefined): boolean => node === undefined || node.owns(0);

/** What only a node among several has. @returns looks everything up */
export function createNodeGauges(gauge: MakeGauge, node: MeasuredNode) {
  const leases = gauge("leases", "Partitions of numbers that this node has, of 256 in all.", []);
  const redis = gauge("redis_up", "Whether Redis answers this node.", []);
  return (): void => {
    leases.set(partitions.filter(node.owns).length);
    redis.set(node.redisIsAway() ? 0 : 1);
  };
}
