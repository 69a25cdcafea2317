import type { Device } from "../../world/accounts.ts";

/** Where a message came from, so that receipts find their way back. */
export interface BookedMessage {
  sender: Device;
  /** The chat as the sender named it. */
  to: string;
  /** When the server took it first, as its `t` attribute says. */
  t: string;
  /** How user addresses are written in this chat. */
  addressing: "pn" | "lid";
}

const REMEMBERED = 100_000;

/** Messages that recently passed through the server, by sender and id. */
export class MessageBook {
  readonly #messages = new Map<string, BookedMessage>();

  /** @param t  the server's time now; when a message is sent again, its first time is kept */
  add(id: string, message: Omit<BookedMessage, "t">, t: string): void {
    const name = `${message.sender.account.number} ${id}`;
    this.#messages.set(name, { ...message, t: this.#messages.get(name)?.t ?? t });
    if (this.#messages.size > REMEMBERED) this.#messages.delete(this.#messages.keys().next().value!);
  }

  /** Undefined when it is not known (any more). */
  find(senderNumber: string, id: string): BookedMessage | undefined {
    return this.#messages.get(`${senderNumber} ${id}`);
  }
}
