import { children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection } from "./connection.ts";
import { listedDevices } from "./device-lists.ts";
import { isGroupJid, isLidJid } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

const STATES = new Set(["composing", "paused"]);

/** Somebody writes: those of the other side who are online see it at once, nobody sees it later. */
export function handleChatState(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  const sender = connection.device!;
  const { to = "" } = node.attrs;
  const group = isGroupJid(to) ? server.world.groups.get(to) : undefined;
  const partner = group ? undefined : server.world.find(to);
  const state = children(node)[0];
  if (!STATES.has(state?.tag ?? "")) {
    server.violations.report(
      "malformed_stanza",
      sender.label,
      `chatstate ${state?.tag ?? "without state"} to ${to}`,
    );
    return;
  }
  const isHeard = group ? group.members.has(sender.account.number) : partner !== undefined;
  if (!isHeard) return;
  const isByLid = isLidJid(to) || sender.account.addressing === "lid";
  const attrs = group
    ? { from: group.id, participant: sender.jid(group.addressing) }
    : { from: isByLid ? sender.account.devices.get(0)!.lid : sender.account.devices.get(0)!.pn };
  const others = group ? [...group.members.keys()] : [partner!.number];
  for (const number of others) {
    if (number === sender.account.number) continue;
    for (const device of listedDevices(server.world.account(number))) {
      if (device.active) device.connection?.send(element("chatstate", attrs, [state!]));
    }
  }
}
