import { child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { listedDevices } from "./device-lists.ts";
import type { Device } from "./device.ts";
import { LID_SERVER, jidOf } from "./jid.ts";
import { commonAttributes, travelling } from "./messages.ts";
import type { Verdict } from "./messages.ts";
import type { SimulatorServer } from "./server.ts";

/** Where statuses are posted. */
export const STATUS_JID = "status@broadcast";

/** A status: one ciphertext for all, with the sender's key for everybody who is to see it. */
export function postStatus(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  server.book.add(node.attrs.id!, { sender, to: STATUS_JID, addressing: "pn" }, server.now());
  if (node.attrs.participant) return resend(server, sender, node);
  const common = children(node, "enc").filter((enc) => enc.attrs.type === "skmsg");
  if (common.length !== 1) {
    server.violations.report("group_without_skmsg", sender.label, `status ${node.attrs.id}`);
    return { error: 400 };
  }
  const keys = new Map<Device, BinaryNode[]>();
  for (const to of children(child(node, "participants"), "to")) {
    const device = server.world.device(to.attrs.jid);
    if (device) keys.set(device, children(to, "enc"));
    else server.violations.report("device_list", sender.label, `status ${node.attrs.id}: ${to.attrs.jid}`);
  }
  reportMissing(server, sender, node, keys);
  for (const [device, encs] of keys) pass(server, sender, device, node, [...encs, ...common]);
  return {};
}

/** Who sees a status sees it on all devices. */
function reportMissing(
  server: SimulatorServer,
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
  server.violations.report("device_list", sender.label, `status ${node.attrs.id}: missing [${names}]`);
}

function resend(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const target = server.world.device(node.attrs.participant);
  if (!target) return { error: 479 };
  pass(server, sender, target, node, children(node, "enc"));
  return {};
}

function pass(
  server: SimulatorServer,
  sender: Device,
  target: Device,
  node: BinaryNode,
  encs: BinaryNode[],
): void {
  const { account } = sender;
  const { hidesNumber } = account;
  const attrs = {
    ...commonAttributes(server, sender, node),
    from: STATUS_JID,
    participant: hidesNumber ? sender.lid : sender.pn,
    participant_lid: hidesNumber ? undefined : jidOf(account.lid, LID_SERVER),
  };
  const stanza = element("message", attrs, travelling(node, encs));
  server.transcript.sent(sender, target, STATUS_JID, stanza);
  server.deliver(target, stanza);
}
