/** Functions that are too long with what is nested in them, and their lines. None is added, and each number only falls. */
export const LONG_CLOSURES: Record<string, number> = {
  "src/app/possession.ts createPossession": 136,
  "src/cluster/member.ts createMember": 153,
  "src/console/data/list.ts useList": 133,
  "src/console/screens/chats/timeline/timeline.ts useTimeline": 117,
  "src/demo/playground/playground.ts createPlayground": 91,
  "src/numbers/lives.ts createLives": 134,
  "src/outbox/sending/chats.ts createWaitingChats": 114,
  "src/outbox/sending/queue.ts createQueueLoader": 122,
  "src/outbox/states.ts createStateCollector": 116,
  "src/serve/connections.ts guardConnections": 98,
  "src/store/server/engine.ts createServerEngine": 109,
};
