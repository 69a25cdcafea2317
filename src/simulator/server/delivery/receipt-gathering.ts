import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";
import type { Deliveries, Stamps } from "../ports.ts";

/** How long receipts for one message are collected before they are sent, in milliseconds. */
const GATHER_MS = 100;

interface Needs extends Stamps, Deliveries {
  time: Time;
}

/** A receipt from one member's device for one group message. */
export interface MemberReceipt {
  /** The device that wrote the message. */
  sender: Device;
  group: string;
  messageId: string;
  /** `read`, `played`; undefined means delivered. */
  type: string | undefined;
  /** Address of the member's device, as the group names it. */
  member: string;
}

/** Collects members' receipts and passes them to the sender as one receipt with its own id. */
export function createReceiptGathering(needs: Needs): (receipt: MemberReceipt) => void {
  const gathering = new Map<string, { member: string; t: string }[]>();
  return ({ sender, group, messageId, type, member }) => {
    const name = [sender.label, group, messageId, type ?? ""].join(" ");
    const entry = { member, t: needs.now() };
    const known = gathering.get(name);
    if (known) return void known.push(entry);
    const entries = [entry];
    gathering.set(name, entries);
    needs.time.after(GATHER_MS, () => {
      gathering.delete(name);
      const users = entries.map(({ member: jid, t }) => element("user", { jid, t }));
      const attrs = { id: needs.nextId(), from: group, type, t: needs.now() };
      const about = element("participants", { key: messageId, message_id: messageId }, users);
      needs.deliver(sender, element("receipt", attrs, [about]));
    });
  };
}
