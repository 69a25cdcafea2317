import { child, children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "../../world/jid.ts";
import type { Device } from "../../world/accounts.ts";
import type { World } from "../../world/world.ts";
import type { Deliveries, Reports, Stamps } from "../ports.ts";

interface Needs extends Pick<Stamps, "now">, Deliveries, Reports {
  world: World;
}

/** Files that the media host no longer has and a phone uploads again for its companion. */
export interface MediaRetry {
  /** A companion asks (`receipt type=server-error`): its phone is told. */
  askPhone(companion: Device, receipt: BinaryNode): void;
  /** The phone's answer goes to the companion that asked. True when there is such a companion. */
  answerCompanion(phone: Device, answer: BinaryNode): boolean;
}

/** Relays companions' requests and phones' answers. */
export function createMediaRetry(needs: Needs): MediaRetry {
  return {
    askPhone: (companion, receipt) => askPhone(needs, companion, receipt),
    answerCompanion: (phone, answer) => answerCompanion(needs, phone, answer),
  };
}

function askPhone(needs: Needs, companion: Device, receipt: BinaryNode): void {
  const { id, to } = receipt.attrs;
  const phone = companion.account.devices.get(0);
  if (!child(receipt, "rmr")?.attrs.jid || !child(receipt, "encrypt") || companion.id === 0) {
    needs.violations.report(
      "malformed_stanza",
      companion.label,
      `server-error for ${id} without rmr or encrypt`,
    );
    return;
  }
  if (needs.world.find(to) !== companion.account || !phone) {
    needs.violations.report("malformed_stanza", companion.label, `server-error for ${id} to ${to}`);
    return;
  }
  const attrs = { id, from: companion.pn, type: "server-error", t: needs.now() };
  needs.deliver(phone, element("receipt", attrs, receipt.content));
}

function answerCompanion(needs: Needs, phone: Device, answer: BinaryNode): boolean {
  const companion = needs.world.device(answer.attrs.to);
  if (companion?.account !== phone.account || companion.id === 0) return false;
  const { number, lid } = phone.account;
  const attrs = {
    id: answer.attrs.id,
    from: jidOf(number, PN_SERVER),
    lid: jidOf(lid, LID_SERVER),
    type: "mediaretry",
    t: needs.now(),
  };
  needs.deliver(companion, element("notification", attrs, children(answer)));
  return true;
}
