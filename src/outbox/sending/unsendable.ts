import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import type { QueuedMessage } from "./chats.ts";
import { EXPIRED, type Endings } from "./endings.ts";
import type { Reachout } from "./holdups/reachout.ts";
import type { Sender } from "./sender.ts";

interface UnsendableDeps {
  deviceId: number;
  reachout: Pick<Reachout, "isLocked" | "holdsBack" | "error">;
  endings: Pick<Endings, "all">;
  isExpired: (message: QueuedMessage) => boolean;
  sender: Pick<Sender, "messages" | "take">;
  log: Logger;
}

/** Ends what waits and will not be sent, before its turn comes. */
export interface Unsendable {
  /** While the reach-out lock holds, what would be a first contact fails at once instead of waiting for its turn. @param waiting default: all that waits */
  failFirstContacts(waiting?: () => QueuedMessage[]): void;
  /** What has waited for too long. */
  endExpired(): Promise<void>;
}

/** Few enough that nobody notices the commit. */
const ROWS_AT_ONCE = 200;
/** Messages whose age is looked at in one turn of the event loop. */
const LOOKED_AT_ONCE = 1_000;

/** A number may have tens of thousands that wait: everybody else goes on in between. */
export function createUnsendable(deps: UnsendableDeps): Unsendable {
  const { reachout, endings, isExpired, sender } = deps;

  async function endFirstContacts(messages: QueuedMessage[]): Promise<void> {
    for (let from = 0; from < messages.length; from += ROWS_AT_ONCE) {
      const ending: QueuedMessage[] = [];
      for (const message of messages.slice(from, from + ROWS_AT_ONCE))
        if ((await reachout.holdsBack(message)) && sender.take(message)) ending.push(message);
      await endings.all(ending, "failed", reachout.error());
      await turn();
    }
  }

  return {
    // The list of what waits is made only then: it may be long, and every refusal comes through here.
    failFirstContacts(waiting = sender.messages) {
      if (!reachout.isLocked()) return;
      endFirstContacts(waiting()).catch((error: Error) => {
        // Whatever is left is held back when its turn comes.
        deps.log.warn({ err: error, device: deps.deviceId }, "could not look for first contacts");
      });
    },

    async endExpired() {
      const waiting = sender.messages();
      for (let from = 0; from < waiting.length; from += LOOKED_AT_ONCE) {
        if (from > 0) await turn();
        const some = waiting.slice(from, from + LOOKED_AT_ONCE);
        void endings.all(
          some.filter((message) => isExpired(message) && sender.take(message)),
          "expired",
          EXPIRED,
        );
      }
    },
  };
}
