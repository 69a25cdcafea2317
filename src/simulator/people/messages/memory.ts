import type { proto } from "@whiskeysockets/baileys";

/** A message as one phone has it in its chats. */
export interface KnownMessage {
  id: string;
  /** The chat's address on this phone. */
  chat: string;
  /** Address of the author's device. */
  author: string;
  fromMe: boolean;
  /** Unix seconds. */
  timestamp: number;
  pushName?: string;
  message: proto.IMessage;
}

const REMEMBERED = 1000;

/** The newest messages in a phone's chats: what can be answered, voted in, edited and loaded. */
export class Memory {
  readonly #messages = new Map<string, KnownMessage>();

  add(message: KnownMessage): void {
    this.#messages.delete(message.id);
    this.#messages.set(message.id, message);
    if (this.#messages.size > REMEMBERED) this.#messages.delete(this.#messages.keys().next().value!);
  }

  find(id: string): KnownMessage | undefined {
    return this.#messages.get(id);
  }
}
