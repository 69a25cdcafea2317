import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { bytes, child, children } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { HOSTED_DEVICE, LID_SERVER, PN_SERVER, jidOf, parseJid } from "../../world/jid.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Device } from "../../world/accounts.ts";
import type { Group, World } from "../../world/world.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { PassCopy } from "./copies.ts";
import { participantHash } from "./phash.ts";
import type { MessageBook } from "./message-book.ts";
import type { MessageOutcome, Reports, Stamps } from "../ports.ts";

const SIGNATURE_BYTES = 64;

interface Needs extends Pick<Stamps, "now">, Reports {
  world: World;
  book: MessageBook;
  passCopy: PassCopy;
  behaviour: ServiceBehaviour;
}

/** Relays group messages: one ciphertext for everyone, plus the sender's key for those who do not have it yet. */
export function createGroupMessages(needs: Needs): (sender: Device, message: BinaryNode) => MessageOutcome {
  return (sender, message) => sendGroupMessage(needs, sender, message);
}

function sendGroupMessage(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const group = needs.world.groups.get(node.attrs.to!);
  const role = group?.members.get(sender.account.number);
  if (!group) return { error: 404 };
  // Nobody writes in a community itself, only in its groups.
  if (!role || group.isCommunity || (group.announce && role === "member")) return { error: 403 };
  const isStale = needs.behaviour.staleAddressing && usesOtherAddresses(group, node);
  if (isStale) return { error: 421, addressingMode: group.addressing };
  needs.book.add(node.attrs.id!, { sender, to: group.id, addressing: group.addressing }, needs.now());
  if (node.attrs.participant) return resendInGroup(needs, sender, group, node);
  if (node.attrs.addressing_mode && node.attrs.addressing_mode !== group.addressing) {
    const detail = `${node.attrs.addressing_mode} in the ${group.addressing} group ${group.id}`;
    needs.violations.report("addressing_mode", sender.label, detail);
  }
  const common = children(node, "enc").filter((enc) => enc.attrs.type === "skmsg");
  if (common.length !== 1) {
    needs.violations.report("group_without_skmsg", sender.label, `message ${node.attrs.id} to ${group.id}`);
    return { error: 400 };
  }
  const members = memberDevices(needs, group);
  members.delete(sender);
  const keys = keyCopies(needs, sender, group, node, members);
  const hasAll = checkHolders(needs, sender, group, common[0]!, keys, members);
  for (const device of members)
    pass(needs, sender, device, group, node, [...(keys.get(device) ?? []), ...common]);
  if (!needs.behaviour.wholePhash) return {};
  const phash = participantHash([...members, sender], group.addressing, needs.behaviour);
  const isRight = hasAll && (node.attrs.phash ?? phash) === phash;
  return isRight ? {} : { phash };
}

/** Whether a message names members by the addresses that the group does not go by. */
function usesOtherAddresses({ addressing }: Group, node: BinaryNode): boolean {
  if (node.attrs.participant) return false;
  const server = addressing === "lid" ? LID_SERVER : PN_SERVER;
  const named = children(child(node, "participants"), "to").map(({ attrs }) => parseJid(attrs.jid)?.server);
  return (node.attrs.addressing_mode ?? "pn") !== addressing || named.some((other) => other !== server);
}

/** A resend within a group, to the one device that asked for it; it carries the sender's key as well. */
function resendInGroup(needs: Needs, sender: Device, group: Group, node: BinaryNode): MessageOutcome {
  const target = needs.world.device(node.attrs.participant);
  if (!target || !memberDevices(needs, group).has(target)) {
    const detail = `message ${node.attrs.id} for ${node.attrs.participant} in ${group.id}`;
    needs.violations.report("device_unknown", sender.label, detail);
    return { error: 479 };
  }
  sender.senderKeys.get(group.id)?.holders.add(target.pn);
  pass(needs, sender, target, group, node, children(node, "enc"));
  return {};
}

function memberDevices(needs: Needs, group: Group): Set<Device> {
  const devices = [...group.members.keys()].flatMap((number) => listedDevices(needs.world.account(number)));
  // Groups are not for hosted devices. Sources: whatsmeow `prepareMessageNode`, whatsapp-rust `JidExt::is_hosted`.
  return new Set(devices.filter(({ id }) => id !== HOSTED_DEVICE));
}

function keyCopies(
  needs: Needs,
  sender: Device,
  group: Group,
  node: BinaryNode,
  members: Set<Device>,
): Map<Device, BinaryNode[]> {
  const copies = new Map<Device, BinaryNode[]>();
  for (const to of children(child(node, "participants"), "to")) {
    const device = needs.world.device(to.attrs.jid);
    if (device && members.has(device)) {
      copies.set(device, children(to, "enc"));
    } else if (device !== sender) {
      const detail = `message ${node.attrs.id} in ${group.id}: ${to.attrs.jid} is no device of a member`;
      needs.violations.report("device_list", sender.label, detail);
    }
  }
  return copies;
}

/** Checks that every device has the sender's key, from this message or an earlier one; nobody has a new key id to begin with. */
function checkHolders(
  needs: Needs,
  sender: Device,
  group: Group,
  skmsg: BinaryNode,
  keys: Map<Device, BinaryNode[]>,
  members: Set<Device>,
): boolean {
  const keyId = senderKeyId(bytes(skmsg));
  if (keyId === undefined) {
    needs.violations.report("malformed_ciphertext", sender.label, `skmsg in ${group.id}`);
    return false;
  }
  let state = sender.senderKeys.get(group.id);
  if (state?.keyId !== keyId) {
    state = { keyId, holders: new Set() };
    sender.senderKeys.set(group.id, state);
  }
  for (const device of keys.keys()) state.holders.add(device.pn);
  const without = [...members].filter((device) => !state.holders.has(device.pn));
  if (without.length === 0) return true;
  const names = without.map((device) => device.label).join(", ");
  needs.violations.report(
    "sender_key_missing",
    sender.label,
    `${names} in ${group.id} never got the sender key`,
  );
  return false;
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
  needs: Needs,
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
    from: group.id,
    participant: sender.jid(group.addressing),
    addressing_mode: group.addressing,
    ...other,
  };
  needs.passCopy({ sender, target, chat: group.id, node, encs, attrs });
}
