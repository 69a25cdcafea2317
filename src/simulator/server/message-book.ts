import type { Device } from "./device.ts";

/** Where a message came from, so that receipts find their way back. */
export interface BookedMessage {
  sender: Device;
  /** The chat as the sender named it. */
  to: string;
  /** How user addresses are written in this chat. */
  addressing: "pn" | "lid";
}

const REMEMBERED = 100_000;

/** The messages that went through the server lately, by sender and id. */
export class MessageBook {
  readonly #messages = new Map<string, BookedMessage>();

  add(id: string, message: BookedMessage): void {
    this.#messages.set(`${message.sender.account.number} ${id}`, message);
    if (this.#messages.size > REMEMBERED) this.#messages.delete(this.#messages.keys().next().value!);
  }

  find(senderNumber: string, id: string): BookedMessage | undefined {
    return this.#messages.get(`${senderNumber} ${id}`);
  }
}
