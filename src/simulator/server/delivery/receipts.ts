import { bytes, child, children, element, uint } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { isGroupJid } from "../../world/jid.ts";
import type { BookedMessage } from "../messages/message-book.ts";
import { STATUS_JID } from "../messages/status.ts";
import type { Connection, Device } from "../../world/accounts.ts";
import type { Transcript } from "../../transcript.ts";
import type { World } from "../../world/world.ts";
import type { MediaRetry } from "./media-retry.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { OWN_READING, type TellOwn } from "./own-reading.ts";
import type { MemberReceipt } from "./receipt-gathering.ts";
import type { MessageBook } from "../messages/message-book.ts";
import type { Deliveries, Reports, Stamps, StanzaHandler } from "../ports.ts";

interface Needs extends Pick<Stamps, "now">, Deliveries, Reports, Pick<MediaRetry, "askPhone"> {
  behaviour: ServiceBehaviour;
  /** Collects receipts of a group's members, to be sent together. */
  gather(receipt: MemberReceipt): void;
  /** Tells the reader's other devices. */
  tellOwn: TellOwn;
  world: World;
  book: MessageBook;
  transcript: Transcript;
}

/** Handles `<receipt>`: a device has received, read, or failed to decrypt messages. They come off its queue and their senders are told. */
export function createReceipts(needs: Needs): StanzaHandler {
  return (connection, node) => handleReceipt(needs, connection, node);
}

/** Types that say something to the sender, besides delivery (no type). The others concern own devices only. */
const TOLD_TO_SENDER = new Set([undefined, "inactive", "read", "played", "retry", "sender", "peer_msg"]);
/** A retry receipt asks for the message again; what it refers to stays queued until it is acknowledged. */
const DOES_NOT_ACKNOWLEDGE = new Set(["retry", ...OWN_READING, "hist_sync", "server-error"]);

function handleReceipt(needs: Needs, connection: Connection, node: BinaryNode): void {
  const device = connection.device!;
  const { id, to, type, participant } = node.attrs;
  if (!id || (type === "retry" && !retryIsComplete(node))) {
    needs.violations.report("malformed_stanza", device.label, `receipt ${id ?? "without id"} ${type ?? ""}`);
    return;
  }
  const items = children(child(node, "list"), "item").map((item) => item.attrs.id ?? "");
  const bySender = new Map<Device, { message: BookedMessage; ids: string[] }>();
  for (const messageId of [id, ...items]) {
    const stanza = takeOff(needs, device, node, messageId);
    const author = stanza?.attrs.participant ?? stanza?.attrs.from ?? participant ?? to ?? device.pn;
    const message = needs.book.find(needs.world.find(author)?.number ?? "", messageId);
    if (!message) continue;
    const told = bySender.get(message.sender) ?? { message, ids: [] };
    told.ids.push(messageId);
    bySender.set(message.sender, told);
  }
  if (type === "retry") rememberGivenKey(device, node, participant ?? to ?? "");
  connection.send(element("ack", { class: "receipt", id, type, from: to, participant, t: needs.now() }));
  if (type === "server-error") needs.askPhone(device, node);
  if (OWN_READING.has(type ?? ""))
    for (const { message, ids } of bySender.values()) needs.tellOwn(device, message, ids, type!);
  if (!TOLD_TO_SENDER.has(type)) return;
  for (const { message, ids } of bySender.values()) tellSender(needs, device, message, ids, node);
}

/** Takes the stanza off the device's queue if this kind of receipt acknowledges it. */
function takeOff(needs: Needs, device: Device, receipt: BinaryNode, id: string): BinaryNode | undefined {
  const { type, to, participant } = receipt.attrs;
  if (DOES_NOT_ACKNOWLEDGE.has(type ?? "")) {
    if (device.queue.knows("message", id)) return undefined;
    needs.violations.report("unknown_receipt", device.label, `${type} for ${id}, which was not sent to it`);
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
    needs.transcript.acknowledged(device, needs.world.authorOf(done.node), id);
  } else if (!device.queue.knows("message", id)) {
    needs.violations.report("unknown_receipt", device.label, `for ${id}, which was not sent to it`);
  }
  return done?.node;
}

function tellSender(
  needs: Needs,
  reader: Device,
  message: BookedMessage,
  ids: string[],
  receipt: BinaryNode,
): void {
  const { sender, to, addressing } = message;
  if (sender === reader || !sender.account.devices.has(sender.id)) return;
  const inGroup = isGroupJid(to) || to === STATUS_JID;
  const jid = reader.jid(addressing);
  const { type } = receipt.attrs;
  if (needs.behaviour.aggregatedReceipts && isGroupJid(to) && type !== "retry") {
    for (const messageId of ids) needs.gather({ sender, group: to, messageId, type, member: jid });
    return;
  }
  const attrs = {
    id: ids[0],
    from: inGroup ? to : jid,
    participant: inGroup ? jid : undefined,
    recipient: !inGroup && reader.account === sender.account ? to : undefined,
    type,
    t: needs.now(),
  };
  const items = ids.slice(1).map((id) => element("item", { id }));
  const content =
    type === "retry" ? receipt.content : items.length > 0 ? [element("list", {}, items)] : undefined;
  needs.deliver(sender, element("receipt", attrs, content));
}

function retryIsComplete(node: BinaryNode): boolean {
  const retry = child(node, "retry");
  const keys = child(node, "keys");
  const keysAreComplete = !keys || ["type", "identity", "skey"].every((tag) => child(keys, tag));
  return (
    Number(retry?.attrs.count) >= 1 && bytes(child(node, "registration"))?.length === 4 && keysAreComplete
  );
}

/** A retry receipt can hand out a one-time pre-key, bypassing the server's store. */
function rememberGivenKey(device: Device, node: BinaryNode, to: string): void {
  const id = uint(child(child(child(node, "keys"), "key"), "id"));
  if (id !== undefined) device.spentPreKeys.set(id, { to });
}
