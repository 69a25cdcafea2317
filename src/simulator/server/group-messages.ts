import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { bytes, child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Group } from "../world.ts";
import { listedDevices } from "./device-lists.ts";
import type { Device } from "./device.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import { commonAttributes, travelling } from "./messages.ts";
import type { Verdict } from "./messages.ts";
import type { SimulatorServer } from "./server.ts";

const SIGNATURE_BYTES = 64;

/** A message for a group: one ciphertext for all, and the sender's key for those who do not have it yet. */
export function sendGroupMessage(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const group = server.world.groups.get(node.attrs.to!);
  const role = group?.members.get(sender.account.number);
  if (!group) return { error: 404 };
  if (!role || (group.announce && role === "member")) return { error: 403 };
  server.book.add(node.attrs.id!, { sender, to: group.id, addressing: group.addressing }, server.now());
  if (node.attrs.participant) return resendInGroup(server, sender, group, node);
  if (node.attrs.addressing_mode && node.attrs.addressing_mode !== group.addressing) {
    const detail = `${node.attrs.addressing_mode} in the ${group.addressing} group ${group.id}`;
    server.violations.report("addressing_mode", sender.label, detail);
  }
  const common = children(node, "enc").filter((enc) => enc.attrs.type === "skmsg");
  if (common.length !== 1) {
    server.violations.report("group_without_skmsg", sender.label, `message ${node.attrs.id} to ${group.id}`);
    return { error: 400 };
  }
  const members = memberDevices(server, group);
  members.delete(sender);
  const keys = keyCopies(server, sender, group, node, members);
  checkHolders(server, sender, group, common[0]!, keys, members);
  for (const device of members)
    pass(server, sender, device, group, node, [...(keys.get(device) ?? []), ...common]);
  return {};
}

/** A resend within a group, to the one device that asked for it; it carries the sender's key as well. */
function resendInGroup(server: SimulatorServer, sender: Device, group: Group, node: BinaryNode): Verdict {
  const target = server.world.device(node.attrs.participant);
  if (!target || !memberDevices(server, group).has(target)) {
    const detail = `message ${node.attrs.id} for ${node.attrs.participant} in ${group.id}`;
    server.violations.report("device_unknown", sender.label, detail);
    return { error: 479 };
  }
  sender.senderKeys.get(group.id)?.holders.add(target.pn);
  pass(server, sender, target, group, node, children(node, "enc"));
  return {};
}

export function memberDevices(server: SimulatorServer, group: Group): Set<Device> {
  return new Set([...group.members.keys()].flatMap((number) => listedDevices(server.world.account(number))));
}

function keyCopies(
  server: SimulatorServer,
  sender: Device,
  group: Group,
  node: BinaryNode,
  members: Set<Device>,
): Map<Device, BinaryNode[]> {
  const copies = new Map<Device, BinaryNode[]>();
  for (const to of children(child(node, "participants"), "to")) {
    const device = server.world.device(to.attrs.jid);
    if (device && members.has(device)) {
      copies.set(device, children(to, "enc"));
    } else if (device !== sender) {
      const detail = `message ${node.attrs.id} in ${group.id}: ${to.attrs.jid} is no device of a member`;
      server.violations.report("device_list", sender.label, detail);
    }
  }
  return copies;
}

/** Every device must have the sender's key from now or from before; a new key id starts with nobody. */
function checkHolders(
  server: SimulatorServer,
  sender: Device,
  group: Group,
  skmsg: BinaryNode,
  keys: Map<Device, BinaryNode[]>,
  members: Set<Device>,
): void {
  const keyId = senderKeyId(bytes(skmsg));
  if (keyId === undefined) {
    server.violations.report("malformed_ciphertext", sender.label, `skmsg in ${group.id}`);
    return;
  }
  let state = sender.senderKeys.get(group.id);
  if (state?.keyId !== keyId) {
    state = { keyId, holders: new Set() };
    sender.senderKeys.set(group.id, state);
  }
  for (const device of keys.keys()) state.holders.add(device.pn);
  const without = [...members].filter((device) => !state.holders.has(device.pn));
  if (without.length === 0) return;
  const names = without.map((device) => device.label).join(", ");
  server.violations.report(
    "sender_key_missing",
    sender.label,
    `${names} in ${group.id} never got the sender key`,
  );
}

function senderKeyId(content: Buffer | undefined): number | undefined {
  if (!content || content.length <= SIGNATURE_BYTES + 1) return undefined;
  try {
    return proto.SenderKeyMessage.decode(content.subarray(1, -SIGNATURE_BYTES)).id ?? undefined;
  } catch {
    return undefined;
  }
}

function pass(
  server: SimulatorServer,
  sender: Device,
  target: Device,
  group: Group,
  node: BinaryNode,
  encs: BinaryNode[],
): void {
  const { account } = sender;
  const other =
    group.addressing === "pn"
      ? { participant_lid: jidOf(account.lid, LID_SERVER) }
      : { participant_pn: account.hidesNumber ? undefined : jidOf(account.number, PN_SERVER) };
  const attrs = {
    ...commonAttributes(server, sender, node),
    from: group.id,
    participant: sender.jid(group.addressing),
    addressing_mode: group.addressing,
    ...other,
  };
  const stanza = element("message", attrs, travelling(node, encs));
  server.transcript.sent(sender, target, group.id, stanza);
  server.deliver(target, stanza);
}
