import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection } from "../../world/accounts.ts";
import type { Transcript } from "../../transcript.ts";
import type { World } from "../../world/world.ts";
import type { Reports, StanzaHandler } from "../ports.ts";

interface Needs extends Reports {
  world: World;
  transcript: Transcript;
}

/** Handles `<ack>` from a client, including the refusal of a message (`error`): either way the server is done with the stanza. */
export function createAcks(needs: Needs): StanzaHandler {
  return (connection, node) => handleAck(needs, connection, node);
}

function handleAck(needs: Needs, connection: Connection, node: BinaryNode): void {
  const { device } = connection;
  // While a code is being entered, notifications go to a client without a device, outside any queue.
  if (!device) return;
  const { id, class: tag, to, participant } = node.attrs;
  if (!id || !tag) {
    needs.violations.report("malformed_stanza", device.label, "an ack needs id and class");
    return;
  }
  // Several devices may tell of one message, each in a receipt with its id; what waits may be acknowledged in any order.
  const owed = device.queue
    .waiting()
    .filter(({ node: { tag: sent, attrs } }) => sent === tag && attrs.id === id && attrs.from === to)
    .map(({ node: { attrs } }) => attrs.recipient);
  if (owed.length > 0 && !owed.includes(undefined) && !owed.includes(node.attrs.recipient)) {
    const named = `names ${node.attrs.recipient ?? "no recipient"} instead of ${owed.join(" or ")}`;
    needs.violations.report("ack_recipient", device.label, `the ack of ${tag} ${id} ${named}`);
    connection.send(element("stream:error", {}, [element("ack", { class: tag, id })]));
    return connection.close();
  }
  const done = device.queue.acknowledge({ tag, id, from: to, participant });
  if (done && tag === "message") {
    needs.transcript.acknowledged(device, needs.world.authorOf(done.node), id, node.attrs.error);
  } else if (!done && !device.queue.knows(tag, id)) {
    needs.violations.report("unknown_ack", device.label, `no ${tag} ${id} was sent to it`);
  }
}
