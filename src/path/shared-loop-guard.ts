import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import type { LoopGuard } from "../pipeline/loop-guard.ts";

interface Counted {
  deviceId: number;
  chat: string;
  replies: number;
}

const COUNTED = defineTopic<Counted>("automatic-replies");

/**
 * The guard for replies that any node may make. What it counts is remembered by the node that has the number, which answers
 * nearly everything; who makes a reply elsewhere tells it, and is not held up.
 */
export function shareLoopGuard(
  guard: LoopGuard,
  { bus, ownership }: Pick<Cluster, "bus" | "ownership">,
): LoopGuard {
  bus.listen(COUNTED, ({ deviceId, chat, replies }) => {
    // A count that is lost lets an answering machine go on a little longer.
    if (ownership.owns(deviceId)) guard.count(deviceId, chat, replies).catch(() => undefined);
  });
  return {
    allows: async (deviceId, chat) => !ownership.owns(deviceId) || guard.allows(deviceId, chat),
    async count(deviceId, chat, replies) {
      if (ownership.owns(deviceId)) await guard.count(deviceId, chat, replies);
      else bus.tell(COUNTED, { deviceId, chat, replies });
    },
  };
}
