import { child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { isChannelJid, postInChannel } from "./channels.ts";
import type { Connection } from "./connection.ts";
import type { Device } from "./device.ts";
import { sendDirectMessage, sendPeerMessage, sendToOneDevice } from "./direct-messages.ts";
import { sendGroupMessage } from "./group-messages.ts";
import { firstAnswer } from "./hooks.ts";
import { isGroupJid } from "./jid.ts";
import { REACHOUT_LOCKED } from "./reachout.ts";
import type { SimulatorServer } from "./server.ts";
import { STATUS_JID, postStatus } from "./status.ts";
import { checkCiphertexts, checkDeviceIdentity } from "./strictness.ts";

/** What became of a message: an error code for its ack, or a hash of the right device list when that was wrong. */
export interface Verdict {
  error?: number;
  phash?: string;
  /** Number of a post in its channel. */
  serverId?: number;
}

/** Takes a message from a client, passes it on to every device that it is for, and acknowledges it. */
export function handleMessage(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  const sender = connection.device!;
  const { id, to, participant } = node.attrs;
  if (!id || !to || !Array.isArray(node.content)) {
    server.violations.report("malformed_stanza", sender.label, "a message needs id, to and content");
    if (id) acknowledge(server, connection, node, { error: 400 });
    return;
  }
  const error = firstAnswer(server.hooks.verdict, sender, node);
  if (error !== undefined) {
    acknowledge(server, connection, node, { error });
    return;
  }
  const earlier = server.book.find(sender.account.number, id);
  if (earlier && !sameChat(server, earlier.to, to) && !participant && node.attrs.device_fanout !== "false") {
    server.violations.report(
      "id_reused",
      sender.label,
      `message ${id} went to ${earlier.to} before, now to ${to}`,
    );
  }
  checkDeviceIdentity(server, sender, node);
  checkCiphertexts(server, sender, node);
  const verdict = passOn(server, sender, node);
  if (verdict.error === undefined)
    server.accepted.add(sender, node, server.world.find(to)?.number ?? to, server.clock());
  acknowledge(server, connection, node, verdict);
}

/** A user has two addresses for one chat. */
function sameChat(server: SimulatorServer, one: string, other: string): boolean {
  return one === other || (!isGroupJid(one) && server.world.find(one) === server.world.find(other));
}

function passOn(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const to = node.attrs.to!;
  if (isGroupJid(to)) return sendGroupMessage(server, sender, node);
  if (isChannelJid(to)) return postInChannel(server, sender, node);
  if (to === STATUS_JID) return postStatus(server, sender, node);
  const partner = server.world.find(to);
  if (!partner) return { error: 404 };
  if (node.attrs.category === "peer") return sendPeerMessage(server, sender, node);
  // A client may list the one device under participants as well; the ciphertext beside the list is what counts.
  const isForOne = node.attrs.device_fanout === "false" || !child(node, "participants");
  const isResend = isForOne && children(node, "enc").length > 0;
  if (isResend) return sendToOneDevice(server, sender, node);
  if (!server.reachout.allows(sender.account, partner, server.clock())) return { error: REACHOUT_LOCKED };
  server.reachout.met(sender.account, partner);
  return sendDirectMessage(server, sender, node);
}

function acknowledge(
  server: SimulatorServer,
  connection: Connection,
  node: BinaryNode,
  verdict: Verdict,
): void {
  const ack = element("ack", {
    class: "message",
    id: node.attrs.id,
    from: node.attrs.to,
    participant: node.attrs.participant,
    t: server.now(),
    phash: verdict.phash,
    server_id: verdict.serverId === undefined ? undefined : String(verdict.serverId),
    error: verdict.error === undefined ? undefined : String(verdict.error),
  });
  server.sendAck(connection, ack);
}

/** The attributes that every copy of a message carries. */
export function commonAttributes(
  server: SimulatorServer,
  sender: Device,
  node: BinaryNode,
): Record<string, string> {
  const { id, type, edit, category, expiration, push_priority: priority } = node.attrs;
  const override = server.overrides.get(`${sender.account.number} ${id}`);
  // A resend for one device is dated as the message itself.
  const isResend = node.attrs.participant !== undefined || node.attrs.device_fanout === "false";
  const sentAt = isResend ? server.book.find(sender.account.number, id!)?.t : undefined;
  const attrs: Record<string, string | undefined> = {
    id,
    t: override?.t ?? sentAt ?? server.now(),
    type: type ?? "text",
    notify: override?.notify ?? node.attrs.notify ?? sender.account.name,
    edit,
    category,
    expiration,
    push_priority: priority,
  };
  return element("", attrs).attrs;
}

/** Children that travel with each copy besides the ciphertext. */
export function travelling(node: BinaryNode, encs: BinaryNode[]): BinaryNode[] {
  const identity = child(node, "device-identity");
  const isFirstContact = encs.some((enc) => enc.attrs.type === "pkmsg");
  return [...encs, ...children(node, "meta"), ...(identity && isFirstContact ? [identity] : [])];
}
