import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection } from "./connection.ts";
import { authorOf } from "./receipts.ts";
import type { SimulatorServer } from "./server.ts";

/** A client acknowledges a stanza, or refuses a message (`error`): either way the server is done with it. */
export function handleAck(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  const { device } = connection;
  // While a code is being entered, notifications go to a client without a device, outside any queue.
  if (!device) return;
  const { id, class: tag, to, participant } = node.attrs;
  if (!id || !tag) {
    server.violations.report("malformed_stanza", device.label, "an ack needs id and class");
    return;
  }
  const done = device.queue.acknowledge({ tag, id, from: to, participant });
  if (done && tag === "message") {
    server.transcript.acknowledged(device, authorOf(server, done.node), id, node.attrs.error);
  } else if (!done && !device.queue.knows(tag, id)) {
    server.violations.report("unknown_ack", device.label, `no ${tag} ${id} was sent to it`);
  }
}
