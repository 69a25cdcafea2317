import { giveWay } from "../../model/give-way.ts";
import type { Chat, WaitingChats } from "./chats.ts";

/** Chats that are looked at in one turn of the event loop. */
export const CHATS_AT_ONCE = 500;

/** Does something to every chat of a number, and looks afterwards what may leave. */
export type EachChat = (work: (chat: Chat) => unknown) => Promise<void>;

/** A number may have a message for each of thousands of chats: everybody else goes on in between. */
export function createEachChat(chats: Pick<WaitingChats, "all">, pump: () => void): EachChat {
  return async (work) => {
    let done = 0;
    for (const chat of chats.all()) {
      work(chat);
      if (++done % CHATS_AT_ONCE > 0) continue;
      pump();
      await giveWay();
    }
    pump();
  };
}
