import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { isGroupJid, isLidJid } from "../../world/jid.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Connection } from "../../world/accounts.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import type { Reports, StanzaHandler } from "../ports.ts";

interface Needs extends Reports {
  world: World;
  profiles: Profiles;
  behaviour: ServiceBehaviour;
}

/** Handles `<chatstate>`: people who have the app open see at once that someone is typing; nobody is told later. Source: whatsmeow `ChatPresence`. */
export function createChatStates(needs: Needs): StanzaHandler {
  return (connection, node) => handleChatState(needs, connection, node);
}

const STATES = new Set(["composing", "paused"]);

function handleChatState(needs: Needs, connection: Connection, node: BinaryNode): void {
  const sender = connection.device!;
  const { to = "" } = node.attrs;
  const group = isGroupJid(to) ? needs.world.groups.get(to) : undefined;
  const partner = group ? undefined : needs.world.find(to);
  const state = children(node)[0];
  if (!STATES.has(state?.tag ?? "")) {
    needs.violations.report(
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
    for (const device of listedDevices(needs.world.account(number))) {
      const isHere = !needs.behaviour.presence || needs.profiles.of(number).available.has(device);
      const isBlocked = !group && needs.profiles.blocks(device.account, sender.account);
      if (device.active && isHere && !isBlocked)
        device.connection?.send(element("chatstate", attrs, [state!]));
    }
  }
}
