import type { proto } from "@whiskeysockets/baileys";
import type { AddressBook } from "../address-book.ts";
import type { Expiry } from "../content/context.ts";
import { readTimer } from "../content/timer.ts";

/** After how long messages disappear in chats with people, as one phone knows it. */
export class ChatTimers {
  readonly #timers = new Map<string, Expiry>();

  /** The later of two settings counts. */
  learn(chat: string, timer: Expiry): void {
    const known = this.#timers.get(chat);
    if (!known || known.since <= timer.since) this.#timers.set(chat, timer);
  }

  /** Undefined while messages of the chat stay. */
  of(chat: string): Expiry | undefined {
    const timer = this.#timers.get(chat);
    return timer?.seconds ? timer : undefined;
  }
}

/** What a phone knows of people and of their chats. */
interface Known {
  book: Pick<AddressBook, "numberOf" | "lidOf">;
  timers: ChatTimers;
}

/** Whose chat it is, whichever address the other side is written to by. */
export const timerChat = ({ book }: Pick<Known, "book">, jid: string): string =>
  book.numberOf(jid) ?? book.lidOf(jid) ?? jid;

/** Takes over a change of the setting, whoever of the two has made it. */
export function learnTimer(known: Known, chat: string, message: proto.IMessage): void {
  const timer = readTimer(message);
  if (timer) known.timers.learn(timerChat(known, chat), timer);
}
