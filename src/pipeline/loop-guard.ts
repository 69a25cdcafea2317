import type { Chats } from "./chats.ts";
import { countReplies, mayReply } from "./guards.ts";

/** Keeps answering machines from answering each other without end, whoever of us would answer. */
export interface LoopGuard {
  /** Whether automatic replies may go to this chat now. */
  allows(deviceId: number, chat: string): Promise<boolean>;
  /** So many automatic replies went to this chat. */
  count(deviceId: number, chat: string, replies: number): Promise<void>;
}

/** The guard of the lanes, for automatic replies that are made outside of them. @param now Unix milliseconds */
export function createLoopGuard(
  chats: Pick<Chats, "load">,
  config: { loopGuardPerMinute: number },
  now: () => number,
): LoopGuard {
  return {
    allows: async (deviceId, chat) => mayReply(await chats.load(deviceId, chat), config, now()),
    count: async (deviceId, chat, replies) => countReplies(await chats.load(deviceId, chat), replies, now()),
  };
}
