import type { Time } from "../../model/time.ts";
import type { Chat, WaitingChats } from "./chats.ts";
import { CHATS_AT_ONCE } from "./each-chat.ts";
import type { ColdChats } from "./holdups/cold-chats.ts";
import type { Pace } from "./holdups/pace.ts";
import type { InFlightSlots } from "./in-flight.ts";
import type { PumpTimers } from "./pump-timers.ts";

interface ChoiceDeps {
  chats: Pick<WaitingChats, "withReplies" | "proactive" | "leave">;
  slots: Pick<InFlightSlots, "mayReply" | "mayGoProactive">;
  cold: Pick<ColdChats, "isBusy" | "hold">;
  pace: Pace;
  timers: Pick<PumpTimers, "pumpIn">;
  time: Pick<Time, "now">;
  /** What may have left before is tried. */
  hasHeard(): boolean;
  /** There was more than one turn may look at. */
  pumpSoon(): void;
}

/** Says which chat's message leaves next: replies first, but they leave a slot to what is proactive. Null: none may. */
export function createChoice(deps: ChoiceDeps): () => Chat | null {
  const { chats, slots, cold, pace, timers, time } = deps;

  function nextProactive(): Chat | null {
    while (!cold.isBusy()) {
      const chat = firstTriable(chats.proactive);
      if (chat === null || !cold.hold(chat)) return chat;
    }
    return null;
  }

  function firstTriable(ready: ReadonlySet<Chat>): Chat | null {
    let passed = 0;
    for (const chat of ready) {
      if (deps.hasHeard() || !chat.messages[0]!.uncertain) return chat;
      chats.leave(chat, "idle");
      if (++passed < CHATS_AT_ONCE) continue;
      deps.pumpSoon();
      return null;
    }
    return null;
  }

  function hasToken(): boolean {
    if (pace.take(time.now())) return true;
    timers.pumpIn("pace", pace.waitMs(time.now()));
    return false;
  }

  return () => {
    const reply = firstTriable(chats.withReplies);
    const proactive = nextProactive();
    if (reply !== null && slots.mayReply(proactive !== null)) return reply;
    if (proactive !== null && slots.mayGoProactive() && hasToken()) return proactive;
    return reply;
  };
}
