import type { Time } from "../time.ts";
import { element } from "../wire/nodes.ts";
import type { Device } from "../world/accounts.ts";
import type { Deliveries, Stamps } from "./ports.ts";

/** Receipts of one message are gathered for so long (milliseconds). */
const GATHER_MS = 100;

interface Needs extends Stamps, Deliveries {
  time: Time;
}

/** What one member's device says of one message of a group. */
export interface MemberReceipt {
  /** The device that wrote the message. */
  sender: Device;
  group: string;
  messageId: string;
  /** Delivered when undefined. */
  type: string | undefined;
  /** Address of the member's device, as the group names it. */
  member: string;
}

/** Tells a sender what members say of a message, in one receipt with an id of its own. */
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
