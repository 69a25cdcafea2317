import { createHash } from "node:crypto";
import { child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { listedDevices } from "./device-lists.ts";
import type { Device } from "./device.ts";
import { LID_SERVER, PN_SERVER, isLidJid, jidOf } from "./jid.ts";
import { commonAttributes, travelling } from "./messages.ts";
import type { Verdict } from "./messages.ts";
import type { SimulatorServer } from "./server.ts";

/** A message for all devices of a user and all other devices of the sender, each with its own ciphertext. */
export function sendDirectMessage(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const partner = server.world.account(node.attrs.to!);
  const expected = new Set([...listedDevices(partner), ...listedDevices(sender.account)]);
  expected.delete(sender);
  const copies = new Map<Device, BinaryNode[]>();
  const unknown: string[] = [];
  for (const to of children(child(node, "participants"), "to")) {
    const device = server.world.device(to.attrs.jid);
    if (device && expected.has(device)) copies.set(device, children(to, "enc"));
    else unknown.push(to.attrs.jid ?? "nobody");
  }
  const missing = [...expected].filter((device) => !copies.has(device));
  reportDeviceList(server, sender, node, missing, unknown);
  book(server, sender, node);
  for (const [device, encs] of copies) pass(server, sender, device, node, encs);
  return missing.length + unknown.length > 0 ? { phash: participantHash([...expected, sender]) } : {};
}

/** A resend to the one device that asked for it. */
export function sendToOneDevice(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const { id, to, recipient } = node.attrs;
  const target = server.world.device(to);
  if (!target) {
    server.violations.report("device_unknown", sender.label, `message ${id} for ${to}, which is no device`);
    return { error: 479 };
  }
  if (!server.book.find(sender.account.number, id!)) {
    server.violations.report(
      "resend_unknown",
      sender.label,
      `message ${id} was never sent before its resend`,
    );
  }
  pass(server, sender, target, recipient ? withTo(node, recipient) : node, children(node, "enc"));
  return {};
}

/** A message between two devices of one account, about the account itself. */
export function sendPeerMessage(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const target = server.world.device(node.attrs.to);
  if (target?.account !== sender.account) {
    server.violations.report("device_unknown", sender.label, `peer message for ${node.attrs.to}`);
    return { error: 479 };
  }
  book(server, sender, node);
  const encs = children(node, "enc");
  const attrs = { ...commonAttributes(server, sender, node), from: sender.pn };
  const stanza = element("message", attrs, travelling(node, encs));
  server.transcript.sent(sender, target, sender.account.number, stanza);
  server.deliver(target, stanza);
  return {};
}

const withTo = (node: BinaryNode, to: string): BinaryNode => ({ ...node, attrs: { ...node.attrs, to } });

/** Chats are addressed as the sender addressed them; somebody who shows a LID only always writes from it. */
function addressingOf(sender: Device, to: string): "pn" | "lid" {
  return isLidJid(to) || sender.account.addressing === "lid" ? "lid" : "pn";
}

function book(server: SimulatorServer, sender: Device, node: BinaryNode): void {
  const { id, to } = node.attrs;
  server.book.add(id!, { sender, to: to!, addressing: addressingOf(sender, to!) }, server.now());
}

function pass(
  server: SimulatorServer,
  sender: Device,
  target: Device,
  node: BinaryNode,
  encs: BinaryNode[],
): void {
  const isOwnCopy = target.account === sender.account;
  const attrs = {
    ...commonAttributes(server, sender, node),
    ...(isOwnCopy ? ownCopyAttributes(server, sender, node) : senderAttributes(sender, node)),
  };
  const stanza = element("message", attrs, travelling(node, encs));
  const partner = isOwnCopy ? server.world.account(node.attrs.to!) : sender.account;
  server.transcript.sent(sender, target, partner.number, stanza);
  server.deliver(target, stanza);
}

function senderAttributes(sender: Device, node: BinaryNode): Record<string, string> {
  const { account } = sender;
  if (addressingOf(sender, node.attrs.to!) === "pn") {
    return { from: sender.pn, sender_lid: jidOf(account.lid, LID_SERVER), addressing_mode: "pn" };
  }
  const shown: Record<string, string> = account.hidesNumber
    ? {}
    : { sender_pn: jidOf(account.number, PN_SERVER) };
  return { from: sender.lid, ...shown, addressing_mode: "lid" };
}

/** A copy for another device of the sender names the chat as recipient, and its other address as the peer's. */
function ownCopyAttributes(
  server: SimulatorServer,
  sender: Device,
  node: BinaryNode,
): Record<string, string> {
  const to = node.attrs.to!;
  const partner = server.world.account(to);
  if (addressingOf(sender, to) === "pn") {
    const recipient = jidOf(partner.number, PN_SERVER);
    return {
      from: sender.pn,
      recipient,
      peer_recipient_lid: jidOf(partner.lid, LID_SERVER),
      addressing_mode: "pn",
    };
  }
  const recipient = jidOf(partner.lid, LID_SERVER);
  const shown: Record<string, string> = partner.hidesNumber
    ? {}
    : { peer_recipient_pn: jidOf(partner.number, PN_SERVER) };
  return { from: sender.lid, recipient, ...shown, addressing_mode: "lid" };
}

function reportDeviceList(
  server: SimulatorServer,
  sender: Device,
  node: BinaryNode,
  missing: Device[],
  unknown: string[],
): void {
  if (missing.length === 0 && unknown.length === 0) return;
  const detail = `message ${node.attrs.id} to ${node.attrs.to}: missing [${missing.map((d) => d.label).join(", ")}], unknown [${unknown.join(", ")}]`;
  server.violations.report("device_list", sender.label, detail);
}

/** The hash over a device list that clients compare: version 2, six characters. */
function participantHash(devices: Device[]): string {
  const sorted = devices.map((device) => device.pn).sort();
  return `2:${createHash("sha256").update(sorted.join("")).digest("base64").slice(0, 6)}`;
}
