import type { Time } from "../../time.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Account, Connection, Device } from "../../world/accounts.ts";
import { anyHook } from "../hooks.ts";
import type { Hooks } from "../hooks.ts";
import type { Deliveries, Movement } from "../ports.ts";

interface Needs extends Movement {
  hooks: Pick<Hooks, "alter" | "keep" | "hold" | "repeat" | "transmitted">;
  time: Time;
  /** Brings an account's phones online if they have never been. */
  wake(account: Account): Promise<void>;
  /** Called for every message stanza that is sent. */
  left(device: Device, message: BinaryNode): void;
}

/** Moves stanzas from the queues onto the connections. */
export interface Delivery extends Deliveries {
  /** Sends what waits for a device and was not sent on this connection, unless something holds it back. */
  flush(device: Device): void;
  /** Sends one queued stanza, repeatedly if a fault asks for it. */
  transmit(connection: Connection, device: Device, node: BinaryNode): void;
}

/** Delivers in queue order; whatever was not acknowledged goes out again on the next connection. */
export function createDelivery(needs: Needs): Delivery {
  const { hooks, time } = needs;

  function transmit(connection: Connection, device: Device, node: BinaryNode): void {
    const repeats = hooks.repeat.reduce((sum, hook) => sum + hook(device, node), 0);
    for (let copy = 0; copy <= repeats; copy += 1) connection.send(node);
    if (node.tag === "message") needs.left(device, node);
    for (const hook of hooks.transmitted.slice()) hook(device, node);
  }

  function flush(device: Device): void {
    const { connection } = device;
    if (!connection || !device.active || device.isDraining || anyHook(hooks.hold, device)) return;
    for (const stanza of device.queue.waiting().slice()) {
      if (stanza.held || stanza.sentOn === connection || connection.closed) continue;
      device.queue.markSent(stanza, connection, time.now());
      transmit(connection, device, stanza.node);
    }
    needs.changed();
  }

  return {
    transmit,
    flush,
    deliver(device, node) {
      const stanza = device.queue.push(hooks.alter.reduce((form, hook) => hook(device, form) ?? form, node));
      if (anyHook(hooks.keep, device, stanza)) stanza.held = true;
      if (!device.connection && !device.seen && device.account.kind === "contact")
        void needs.wake(device.account);
      flush(device);
    },
  };
}
