import type { BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";

const REMEMBERED = 5000;

/** The latest message stanzas sent, by device and id, so that they can be sent again even after they were acknowledged. */
export class DeliveredStanzas {
  readonly #stanzas = new Map<string, BinaryNode>();

  add(device: Device, node: BinaryNode): void {
    const name = nameOf(device, node.attrs.id);
    this.#stanzas.delete(name);
    this.#stanzas.set(name, node);
    if (this.#stanzas.size > REMEMBERED) this.#stanzas.delete(this.#stanzas.keys().next().value!);
  }

  find(device: Device, id: string): BinaryNode | undefined {
    return this.#stanzas.get(nameOf(device, id));
  }
}

const nameOf = (device: Device, id: string | undefined): string => `${device.label} ${id}`;
