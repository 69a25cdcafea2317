import { children, element } from "../wire/nodes.ts";
import { isLidJid } from "../world/jid.ts";
import { listedDevices } from "../world/accounts.ts";
import type { World } from "../world/world.ts";
import type { Deliveries, Reports, Stamps, StanzaHandler } from "./ports.ts";

interface Needs extends Deliveries, Reports, Stamps {
  world: World;
}

const STEPS = new Set(["offer", "terminate", "reject"]);

/**
 * Handles `<call to><offer|terminate|reject call-id call-creator/></call>`: companions of the other side are told, and
 * again until they have acknowledged it. Phones ring by themselves, and nothing is ever said on a line.
 */
export function createCalls({ world, now, nextId, violations, deliver }: Needs): StanzaHandler {
  return (connection, node) => {
    const caller = connection.device!;
    const step = children(node)[0];
    const callId = step?.attrs["call-id"];
    const other = world.find(node.attrs.to ?? "");
    if (!step || !STEPS.has(step.tag) || !callId || !other) {
      violations.report("malformed_stanza", caller.label, `call ${step?.tag ?? "without a step"}`);
      return;
    }
    const byLid = isLidJid(node.attrs.to ?? "") || caller.account.addressing === "lid";
    const { pn, lid } = caller.account.devices.get(0)!;
    const from = byLid ? lid : pn;
    const numbers = byLid ? { caller_pn: pn } : {};
    const told = element(step.tag, { "call-id": callId, "call-creator": from, ...numbers });
    for (const device of listedDevices(other)) {
      if (device === other.devices.get(0)) continue;
      deliver(device, element("call", { from, id: nextId(), t: now() }, [told]));
    }
  };
}
