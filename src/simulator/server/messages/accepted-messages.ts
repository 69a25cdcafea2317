import type { AcceptedMessage } from "../../surface/evidence.ts";
import type { MessageBody } from "../../surface/content.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";

const REMEMBERED = 200_000;

type Taken = Omit<AcceptedMessage, keyof MessageBody>;

/** Every message that the service has accepted (acknowledged without an error), by sender and id. */
export class AcceptedMessages {
  readonly #messages = new Map<string, Taken>();
  #seq = 0;

  /** Records a message. Resends for a single device and messages between an account's own devices do not count. */
  add(sender: Device, { attrs }: BinaryNode, chat: string, at: number): void {
    const { id, participant, category } = attrs;
    if (!id || participant || category === "peer" || attrs.device_fanout === "false") return;
    const from = sender.account.number;
    const known = this.#messages.get(`${from} ${id}`);
    if (known) {
      known.times += 1;
      return;
    }
    const seq = ++this.#seq;
    this.#messages.set(`${from} ${id}`, { seq, at, id, from, fromDevice: sender.id, chat, times: 1 });
    if (this.#messages.size > REMEMBERED) this.#messages.delete(this.#messages.keys().next().value!);
  }

  /** In the order in which they were accepted. */
  all(): Taken[] {
    return [...this.#messages.values()];
  }
}
