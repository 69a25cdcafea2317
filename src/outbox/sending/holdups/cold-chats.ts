import { SECOND_MS, type Cancel, type Time } from "../../../model/time.ts";
import type { Logger } from "../../../log.ts";
import type { Chat, WaitingChats } from "../chats.ts";
import type { WarmUp } from "./warm-up.ts";

/** Chats whose next message may be the number's first to somebody, while the number warms up. */
export interface ColdChats {
  /** Takes the chat out until it is known whether its message may leave. @returns false: it may leave now, as far as this goes */
  hold(chat: Chat): boolean;
  /** So many are asked about that the others have to wait for their turn. */
  isBusy(): boolean;
  stop(): void;
}

interface ColdChatsDeps {
  chats: Pick<WaitingChats, "leave" | "makeReady">;
  warmUp: Pick<WarmUp, "asks" | "waitMs">;
  time: Pick<Time, "now" | "after">;
  log: Logger;
  /** A chat may be ready now. */
  pump(): void;
  /** The next day has begun: all that are held are asked about again. */
  release(): void;
}

/** Chats that are asked about at once. */
const AT_ONCE = 8;
/** After the database could not be asked. */
const AGAIN_MS = 5 * SECOND_MS;

/** Nobody waits yet. Thousands that are held have one timer between them. */
export function createColdChats({ chats, warmUp, time, log, pump, release }: ColdChatsDeps): ColdChats {
  const asking = new Set<Chat>();
  let releasing: { at: number; cancel: Cancel } | null = null;
  let stopped = false;

  function releaseIn(ms: number): void {
    const at = time.now() + ms;
    if (stopped || (releasing !== null && releasing.at <= at)) return;
    releasing?.cancel();
    const cancel = time.after(ms, () => {
      releasing = null;
      release();
    });
    releasing = { at, cancel };
  }

  async function ask(chat: Chat): Promise<void> {
    const message = chat.messages[0]!;
    asking.add(chat);
    const waitMs = await warmUp.waitMs(message).catch((error: unknown) => {
      // Without an answer nothing leaves.
      log.warn({ err: error, device: message.deviceId }, "could not look whether a first contact may leave");
      return AGAIN_MS;
    });
    asking.delete(chat);
    if (waitMs > 0) releaseIn(waitMs);
    else {
      message.isWarm = true;
      if (chat.state === "held") chats.makeReady(chat);
    }
    pump();
  }

  return {
    hold(chat) {
      if (!warmUp.asks(chat.messages[0]!)) return false;
      chats.leave(chat, "held");
      if (!asking.has(chat)) void ask(chat);
      return true;
    },
    isBusy: () => asking.size >= AT_ONCE,
    stop() {
      stopped = true;
      releasing?.cancel();
    },
  };
}
