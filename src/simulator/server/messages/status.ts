import { child, children } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { LID_SERVER, jidOf } from "../../world/jid.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Device } from "../../world/accounts.ts";
import type { World } from "../../world/world.ts";
import type { PassCopy } from "./copies.ts";
import type { MessageBook } from "./message-book.ts";
import type { MessageOutcome, Reports, Stamps } from "../ports.ts";

/** Where statuses are posted. */
export const STATUS_JID = "status@broadcast";

interface Needs extends Pick<Stamps, "now">, Reports {
  world: World;
  book: MessageBook;
  passCopy: PassCopy;
}

/** Passes statuses on: one ciphertext for all, with the sender's key for everybody who is to see it. */
export function createStatuses(needs: Needs): (sender: Device, message: BinaryNode) => MessageOutcome {
  return (sender, message) => postStatus(needs, sender, message);
}

function postStatus(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  needs.book.add(node.attrs.id!, { sender, to: STATUS_JID, addressing: "pn" }, needs.now());
  if (node.attrs.participant) return resend(needs, sender, node);
  const common = children(node, "enc").filter((enc) => enc.attrs.type === "skmsg");
  if (common.length !== 1) {
    needs.violations.report("group_without_skmsg", sender.label, `status ${node.attrs.id}`);
    return { error: 400 };
  }
  const keys = new Map<Device, BinaryNode[]>();
  for (const to of children(child(node, "participants"), "to")) {
    const device = needs.world.device(to.attrs.jid);
    if (device) keys.set(device, children(to, "enc"));
    else needs.violations.report("device_list", sender.label, `status ${node.attrs.id}: ${to.attrs.jid}`);
  }
  reportMissing(needs, sender, node, keys);
  for (const [device, encs] of keys) pass(needs, sender, device, node, [...encs, ...common]);
  return {};
}

/** Who sees a status sees it on all devices. */
function reportMissing(
  needs: Needs,
  sender: Device,
  node: BinaryNode,
  keys: Map<Device, BinaryNode[]>,
): void {
  const readers = new Set([...keys.keys()].map(({ account }) => account));
  const missing = [...readers]
    .flatMap(listedDevices)
    .filter((device) => device !== sender && !keys.has(device));
  if (missing.length === 0) return;
  const names = missing.map((device) => device.label).join(", ");
  needs.violations.report("device_list", sender.label, `status ${node.attrs.id}: missing [${names}]`);
}

function resend(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const target = needs.world.device(node.attrs.participant);
  if (!target) return { error: 479 };
  pass(needs, sender, target, node, children(node, "enc"));
  return {};
}

function pass(needs: Needs, sender: Device, target: Device, node: BinaryNode, encs: BinaryNode[]): void {
  const { account } = sender;
  const { hidesNumber } = account;
  const attrs = {
    from: STATUS_JID,
    participant: hidesNumber ? sender.lid : sender.pn,
    participant_lid: hidesNumber ? undefined : jidOf(account.lid, LID_SERVER),
  };
  needs.passCopy({ sender, target, chat: STATUS_JID, node, encs, attrs });
}
