import type { WhatsAppConnection } from "../../whatsapp/port.ts";
import type { WaitingChats } from "./chats.ts";
import type { EachChat } from "./each-chat.ts";

/** What is known of the number's connection. */
export interface Listening {
  /** Another one takes the place of the one before. */
  listenTo(connection: WhatsAppConnection): void;
  /** The connection has told what waited for the number: receipts of what was sent before, too. */
  hasHeard(): boolean;
}

/** Lets go on what waits for a connection to have told everything. */
export function createListening(chats: Pick<WaitingChats, "makeReady">, eachChat: EachChat): Listening {
  let listened: { connection: WhatsAppConnection; heard: boolean } | null = null;
  return {
    listenTo(connection) {
      if (listened?.connection === connection) return;
      const current = { connection, heard: false };
      listened = current;
      void connection.caughtUp().then(() => {
        current.heard = true;
        if (listened !== current) return;
        void eachChat((chat) => {
          if (chat.state === "idle" && chat.cancelPause === null) chats.makeReady(chat);
        });
      });
    },
    hasHeard: () => listened?.heard ?? false,
  };
}
