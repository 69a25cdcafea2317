import { bytes, child, children, element, uint } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection } from "./connection.ts";
import type { Device } from "./device.ts";
import { isGroupJid } from "./jid.ts";
import { askPhone } from "./media-retry.ts";
import type { BookedMessage } from "./message-book.ts";
import { STATUS_JID } from "./status.ts";
import type { SimulatorServer } from "./server.ts";

/** Types that say something to the sender, besides delivery (no type). The others concern own devices only. */
const TOLD_TO_SENDER = new Set([undefined, "inactive", "read", "played", "retry", "sender", "peer_msg"]);
/** A retry receipt asks for the message again; what it refers to stays queued until it is acknowledged. */
const DOES_NOT_ACKNOWLEDGE = new Set(["retry", "read", "read-self", "played", "hist_sync", "server-error"]);

/** A device has got, read, or could not decrypt messages: it is acknowledged and told to the sender. */
export function handleReceipt(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  const device = connection.device!;
  const { id, to, type, participant } = node.attrs;
  if (!id || (type === "retry" && !retryIsComplete(node))) {
    server.violations.report("malformed_stanza", device.label, `receipt ${id ?? "without id"} ${type ?? ""}`);
    return;
  }
  const items = children(child(node, "list"), "item").map((item) => item.attrs.id ?? "");
  const bySender = new Map<Device, { message: BookedMessage; ids: string[] }>();
  for (const messageId of [id, ...items]) {
    const stanza = takeOff(server, device, node, messageId);
    const author = stanza?.attrs.participant ?? stanza?.attrs.from ?? participant ?? to ?? device.pn;
    const message = server.book.find(server.world.find(author)?.number ?? "", messageId);
    if (!message) continue;
    const told = bySender.get(message.sender) ?? { message, ids: [] };
    told.ids.push(messageId);
    bySender.set(message.sender, told);
  }
  if (type === "retry") rememberGivenKey(device, node, participant ?? to ?? "");
  connection.send(element("ack", { class: "receipt", id, type, from: to, participant, t: server.now() }));
  if (type === "server-error") askPhone(server, device, node);
  if (!TOLD_TO_SENDER.has(type)) return;
  for (const { message, ids } of bySender.values()) tellSender(server, device, message, ids, node);
}

/** Number of the one who wrote a message. */
export function authorOf(server: SimulatorServer, message: BinaryNode): string {
  return server.world.find(message.attrs.participant ?? message.attrs.from)?.number ?? "";
}

/** Takes the stanza off the device's queue, when this kind of receipt does so. */
function takeOff(
  server: SimulatorServer,
  device: Device,
  receipt: BinaryNode,
  id: string,
): BinaryNode | undefined {
  const { type, to, participant } = receipt.attrs;
  if (DOES_NOT_ACKNOWLEDGE.has(type ?? "")) {
    if (device.queue.knows("message", id)) return undefined;
    server.violations.report("unknown_receipt", device.label, `${type} for ${id}, which was not sent to it`);
    return undefined;
  }
  // For a copy of an own message the receipt names the chat, not the device that wrote.
  const from = type === "sender" ? undefined : to;
  const done = device.queue.acknowledge({
    tag: "message",
    id,
    from,
    participant: type === "sender" ? undefined : participant,
  });
  if (done) {
    server.transcript.acknowledged(device, authorOf(server, done.node), id);
  } else if (!device.queue.knows("message", id)) {
    server.violations.report("unknown_receipt", device.label, `for ${id}, which was not sent to it`);
  }
  return done?.node;
}

function tellSender(
  server: SimulatorServer,
  reader: Device,
  message: BookedMessage,
  ids: string[],
  receipt: BinaryNode,
): void {
  const { sender, to, addressing } = message;
  if (sender === reader || !sender.account.devices.has(sender.id)) return;
  const inGroup = isGroupJid(to) || to === STATUS_JID;
  const jid = reader.jid(addressing);
  const attrs = {
    id: ids[0],
    from: inGroup ? to : jid,
    participant: inGroup ? jid : undefined,
    recipient: !inGroup && reader.account === sender.account ? to : undefined,
    type: receipt.attrs.type,
    t: server.now(),
  };
  const items = ids.slice(1).map((id) => element("item", { id }));
  const content =
    receipt.attrs.type === "retry"
      ? receipt.content
      : items.length > 0
        ? [element("list", {}, items)]
        : undefined;
  server.deliver(sender, element("receipt", attrs, content));
}

function retryIsComplete(node: BinaryNode): boolean {
  const retry = child(node, "retry");
  const keys = child(node, "keys");
  const keysAreComplete = !keys || ["type", "identity", "skey"].every((tag) => child(keys, tag));
  return (
    Number(retry?.attrs.count) >= 1 && bytes(child(node, "registration"))?.length === 4 && keysAreComplete
  );
}

/** A retry receipt can give away a one-time pre-key, past the server's store. */
function rememberGivenKey(device: Device, node: BinaryNode, to: string): void {
  const id = uint(child(child(child(node, "keys"), "key"), "id"));
  if (id !== undefined) device.spentPreKeys.set(id, { to });
}
