import { child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "./device.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

/** A companion asks for a file that the media host has no more: its phone is told. */
export function askPhone(server: SimulatorServer, companion: Device, receipt: BinaryNode): void {
  const { id, to } = receipt.attrs;
  const phone = companion.account.devices.get(0);
  if (!child(receipt, "rmr")?.attrs.jid || !child(receipt, "encrypt") || companion.id === 0) {
    server.violations.report(
      "malformed_stanza",
      companion.label,
      `server-error for ${id} without rmr or encrypt`,
    );
    return;
  }
  if (server.world.find(to) !== companion.account || !phone) {
    server.violations.report("malformed_stanza", companion.label, `server-error for ${id} to ${to}`);
    return;
  }
  const attrs = { id, from: companion.pn, type: "server-error", t: server.now() };
  server.deliver(phone, element("receipt", attrs, receipt.content));
}

/** The phone's answer goes to the companion that asked. True when there is such a companion. */
export function answerCompanion(server: SimulatorServer, phone: Device, answer: BinaryNode): boolean {
  const companion = server.world.device(answer.attrs.to);
  if (companion?.account !== phone.account || companion.id === 0) return false;
  const { number, lid } = phone.account;
  const attrs = {
    id: answer.attrs.id,
    from: jidOf(number, PN_SERVER),
    lid: jidOf(lid, LID_SERVER),
    type: "mediaretry",
    t: server.now(),
  };
  server.deliver(companion, element("notification", attrs, children(answer)));
  return true;
}
