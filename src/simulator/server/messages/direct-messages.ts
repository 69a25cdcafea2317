import { child, children } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { LID_SERVER, PN_SERVER, isLidJid, jidOf } from "../../world/jid.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Account, Device } from "../../world/accounts.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { PassCopy } from "./copies.ts";
import { participantHash } from "./phash.ts";
import type { MessageBook } from "./message-book.ts";
import type { MessageOutcome, Reports, Stamps } from "../ports.ts";

interface Needs extends Pick<Stamps, "now">, Reports {
  world: World;
  book: MessageBook;
  passCopy: PassCopy;
  profiles: Pick<Profiles, "blocks">;
  behaviour: ServiceBehaviour;
}

/** Messages from person to person. */
export interface DirectMessages {
  /** For all devices of a user and all other devices of the sender, each with its own ciphertext. */
  send(sender: Device, message: BinaryNode): MessageOutcome;
  /** A resend to the one device that asked for it. */
  sendToOne(sender: Device, message: BinaryNode): MessageOutcome;
  /** Between two devices of one account, about the account itself. */
  sendToPeer(sender: Device, message: BinaryNode): MessageOutcome;
}

/** Passes direct messages on, and holds their device lists against the true ones. */
export function createDirectMessages(needs: Needs): DirectMessages {
  return {
    send: (sender, message) => sendDirectMessage(needs, sender, message),
    sendToOne: (sender, message) => sendToOneDevice(needs, sender, message),
    sendToPeer: (sender, message) => sendPeerMessage(needs, sender, message),
  };
}

function sendDirectMessage(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const partner = needs.world.account(node.attrs.to!);
  const expected = new Set([...listedDevices(partner), ...listedDevices(sender.account)]);
  expected.delete(sender);
  const copies = new Map<Device, BinaryNode[]>();
  const unknown: string[] = [];
  for (const to of children(child(node, "participants"), "to")) {
    const device = needs.world.device(to.attrs.jid);
    if (device && expected.has(device)) copies.set(device, children(to, "enc"));
    else unknown.push(to.attrs.jid ?? "nobody");
  }
  const missing = [...expected].filter((device) => !copies.has(device));
  reportDeviceList(needs, sender, node, missing, unknown);
  book(needs, sender, node);
  for (const [device, encs] of copies) pass(needs, sender, device, node, encs);
  return missing.length + unknown.length > 0
    ? { phash: participantHash([...expected, sender], addressingOf(sender, node.attrs.to!), needs.behaviour) }
    : {};
}

function sendToOneDevice(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const { id, to, recipient } = node.attrs;
  const target = needs.world.device(to);
  if (!target) {
    needs.violations.report("device_unknown", sender.label, `message ${id} for ${to}, which is no device`);
    return { error: 479 };
  }
  if (!needs.book.find(sender.account.number, id!)) {
    needs.violations.report("resend_unknown", sender.label, `message ${id} was never sent before its resend`);
  }
  pass(needs, sender, target, recipient ? withTo(node, recipient) : node, children(node, "enc"));
  return {};
}

function sendPeerMessage(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const target = needs.world.device(node.attrs.to);
  if (target?.account !== sender.account) {
    needs.violations.report("device_unknown", sender.label, `peer message for ${node.attrs.to}`);
    return { error: 479 };
  }
  book(needs, sender, node);
  const encs = children(node, "enc");
  needs.passCopy({ sender, target, chat: sender.account.number, node, encs, attrs: { from: sender.pn } });
  return {};
}

const withTo = (node: BinaryNode, to: string): BinaryNode => ({ ...node, attrs: { ...node.attrs, to } });

/** Chats are addressed as the sender addressed them; somebody who shows a LID only always writes from it. */
function addressingOf(sender: Device, to: string): "pn" | "lid" {
  return isLidJid(to) || sender.account.addressing === "lid" ? "lid" : "pn";
}

function book(needs: Needs, sender: Device, node: BinaryNode): void {
  const { id, to } = node.attrs;
  needs.book.add(id!, { sender, to: to!, addressing: addressingOf(sender, to!) }, needs.now());
}

function pass(needs: Needs, sender: Device, target: Device, node: BinaryNode, encs: BinaryNode[]): void {
  const isOwnCopy = target.account === sender.account;
  // The writer is told nothing: it stays at one tick.
  if (needs.profiles.blocks(target.account, sender.account)) return;
  const attrs = isOwnCopy ? ownCopyAttributes(needs, sender, node) : senderAttributes(sender, node);
  const partner = isOwnCopy ? needs.world.account(node.attrs.to!) : sender.account;
  needs.passCopy({ sender, target, chat: partner.number, node, encs, attrs });
}

function senderAttributes(sender: Device, node: BinaryNode): Record<string, string> {
  const { account } = sender;
  if (addressingOf(sender, node.attrs.to!) === "pn") {
    const lid: Record<string, string> =
      account.reachableBy === "number" ? {} : { sender_lid: jidOf(account.lid, LID_SERVER) };
    return { from: sender.pn, ...lid, addressing_mode: "pn" };
  }
  const shown: Record<string, string> = account.hidesNumber
    ? named("username", account)
    : { sender_pn: jidOf(account.number, PN_SERVER) };
  return { from: sender.lid, ...shown, addressing_mode: "lid" };
}

const named = (attribute: string, { username }: Account): Record<string, string> =>
  username === undefined ? {} : { [attribute]: username };

/** A copy for another device of the sender names the chat as recipient, and its other address as the peer's. */
function ownCopyAttributes(needs: Needs, sender: Device, node: BinaryNode): Record<string, string> {
  const to = node.attrs.to!;
  const partner = needs.world.account(to);
  if (addressingOf(sender, to) === "pn") {
    const recipient = jidOf(partner.number, PN_SERVER);
    return {
      from: sender.pn,
      recipient,
      peer_recipient_lid: jidOf(partner.lid, LID_SERVER),
      addressing_mode: "pn",
    };
  }
  const recipient = isLidJid(to) ? to : jidOf(partner.lid, LID_SERVER);
  const shown: Record<string, string> = partner.hidesNumber
    ? named("peer_recipient_username", partner)
    : { peer_recipient_pn: jidOf(partner.number, PN_SERVER) };
  return { from: sender.lid, recipient, ...shown, addressing_mode: "lid" };
}

function reportDeviceList(
  needs: Needs,
  sender: Device,
  node: BinaryNode,
  missing: Device[],
  unknown: string[],
): void {
  if (missing.length === 0 && unknown.length === 0) return;
  const detail = `message ${node.attrs.id} to ${node.attrs.to}: missing [${missing.map((d) => d.label).join(", ")}], unknown [${unknown.join(", ")}]`;
  needs.violations.report("device_list", sender.label, detail);
}
