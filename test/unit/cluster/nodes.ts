import { onTestFinished } from "vitest";
import { createBus, type NodeBus } from "../../../src/cluster/bus.ts";
import { createRedis, type SharedRedis } from "../../../src/cluster/redis.ts";
import { createLogger } from "../../../src/log.ts";
import type { Ownership } from "../../../src/model/nodes/cluster.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import { configFor } from "../store/temporary-config.ts";

/** A node as far as it talks to others, on a real Redis. */
export interface TalkingNode {
  name: string;
  bus: NodeBus;
  redis: SharedRedis;
  /** What it has logged. */
  lines: string[];
}

export const MASTER_KEY = Buffer.alloc(32, 7);

/** Who has which number, for nodes that are told by the test instead of leases. */
export interface Owners {
  /** Name of the node by the number's record. */
  of: Map<number, string>;
  /** What the nodes believe when it is something else. */
  believed: Map<number, string>;
}

export const nobodyYet = (): Owners => ({ of: new Map(), believed: new Map() });

const ownershipOf = (name: string, { of, believed }: Owners): Ownership => ({
  owns: (deviceId) => of.get(deviceId) === name,
  ownerOf: (deviceId) => believed.get(deviceId) ?? of.get(deviceId) ?? null,
  nodes: () => 1,
  follow: () => () => undefined,
});

/** Started, and stopped when the test ends. */
export async function talkingNode(
  name: string,
  url: string,
  owners: Owners,
  masterKey: Buffer = MASTER_KEY,
): Promise<TalkingNode> {
  const lines: string[] = [];
  const config = { ...configFor("/nowhere"), logLevel: "info" as const };
  const log = createLogger(config, { write: (line) => lines.push(line) });
  const box = createSecretBox(masterKey);
  const redis = createRedis({ url, box, log, time: systemTime });
  const ownership = ownershipOf(name, owners);
  const bus = createBus({ redis, node: name, box, ownership, time: systemTime, log });
  onTestFinished(() => {
    bus.stop();
    redis.close();
  });
  await bus.start();
  return { name, bus, redis, lines };
}
