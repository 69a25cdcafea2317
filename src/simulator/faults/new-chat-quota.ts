import type { Account } from "../world/accounts.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** An account that may begin so many chats only. */
export function newChatQuota({
  newChats,
  world,
}: Pick<FaultNeeds, "newChats" | "world">): FaultKit<"newChatQuota"> {
  const limited = new Set<Account>();
  return {
    methods: {
      async newChatQuota({ number, total, used = 0, seconds = 86_400 }) {
        const account = world.account(number);
        newChats.limit(account, { total, used, seconds });
        limited.add(account);
      },
    },
    clear() {
      for (const account of limited) newChats.free(account);
      limited.clear();
    },
  };
}
