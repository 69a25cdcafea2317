/** Which bots have a handler running: whoever blocks the event loop is among them. */
export interface RunningBots {
  /** @returns call it when the handler has ended, or is left behind */
  begin(bot: string): () => void;
  /** Ids of those that ran at any time since the last call. */
  sinceLastLook(): string[];
}

/** Counts handlers in memory; the same bot may run in many chats at once. */
export function createRunningBots(): RunningBots {
  const running = new Map<string, number>();
  let seen = new Set<string>();
  return {
    begin(bot) {
      running.set(bot, (running.get(bot) ?? 0) + 1);
      seen.add(bot);
      return () => {
        const left = (running.get(bot) ?? 1) - 1;
        if (left === 0) running.delete(bot);
        else running.set(bot, left);
      };
    },
    sinceLastLook() {
      const ran = [...seen];
      seen = new Set(running.keys());
      return ran;
    },
  };
}
