import { PARTITIONS, type Bus, type Cluster, type Ownership } from "./cluster.ts";

type Reply = (deviceId: number, asked: unknown) => Promise<unknown>;

/** One process that has every number: nobody is told anything, and every question is its own. */
export function alone(): Cluster {
  const replies = new Map<string, Reply>();
  const bus: Bus = {
    tell: () => undefined,
    listen: () => () => undefined,
    onGap: () => () => undefined,
    settle: async () => undefined,
    onSettle: () => () => undefined,
    async ask({ name }, deviceId, asked) {
      const reply = replies.get(name);
      if (reply === undefined) throw new Error(`nothing answers ${name}`);
      return (await reply(deviceId, asked)) as never;
    },
    answer: ({ name }, reply) => void replies.set(name, reply as Reply),
  };
  const ownership: Ownership = {
    owns: () => true,
    ownerOf: () => null,
    nodes: () => 1,
    follow(worker) {
      void worker.gained(Array.from({ length: PARTITIONS }, (_, partition) => partition));
      return () => undefined;
    },
  };
  return { node: null, bus, ownership, jobs: { add: async () => false, work: () => undefined } };
}
