import type { FaultKit, FaultNeeds } from "./fault.ts";

/** An account that may not start new chats for a while. */
export function reachoutTimelock({
  reachout,
  world,
}: Pick<FaultNeeds, "reachout" | "world">): FaultKit<"reachoutTimelock"> {
  const locked = new Set<string>();
  const lock = (number: string, seconds: number, type?: string): void =>
    reachout.lock(world.account(number), seconds, type);
  return {
    methods: {
      async reachoutTimelock({ number, seconds, type }) {
        lock(number, seconds, type);
        locked.add(number);
      },
    },
    clear() {
      for (const number of locked) lock(number, 0);
      locked.clear();
    },
  };
}
