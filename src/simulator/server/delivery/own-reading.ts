import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { element } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Device } from "../../world/accounts.ts";
import { isGroupJid } from "../../world/jid.ts";
import type { BookedMessage } from "../messages/message-book.ts";
import type { Deliveries, Stamps } from "../ports.ts";
import { STATUS_JID } from "../messages/status.ts";

/** Receipts by which a device says that its owner has seen or heard something; `-self`: the writer is not to know. */
export const OWN_READING: ReadonlySet<string> = new Set(["read", "read-self", "played", "played-self"]);

/** Tells of messages of one sender that a device has marked. */
export type TellOwn = (reader: Device, message: BookedMessage, ids: string[], type: string) => void;

/**
 * Passes what one device has read on to the others of its account: a receipt from the account itself. In a direct chat `recipient`
 * is the chat, in a group the writer of the messages. Source: whatsmeow `parseReceipt`, whatsapp-rust `address_receipt`.
 */
export function createOwnReading({
  behaviour,
  deliver,
  now,
}: { behaviour: ServiceBehaviour } & Deliveries & Pick<Stamps, "now">): TellOwn {
  return (reader, { sender, to, addressing }, ids, type) => {
    if (!behaviour.ownReading || sender.account === reader.account || to === STATUS_JID) return;
    const own = userJid(reader.account, addressing);
    const inGroup = isGroupJid(to);
    const attrs = {
      id: ids[0],
      from: inGroup ? to : own,
      participant: inGroup ? own : undefined,
      recipient: userJid(sender.account, sender.account.hidesNumber ? "lid" : addressing),
      type,
      t: now(),
    };
    const items = ids.slice(1).map((id) => element("item", { id }));
    const content = items.length > 0 ? [element("list", {}, items)] : undefined;
    for (const other of reader.account.devices.values())
      if (other !== reader && other.id !== 0) deliver(other, element("receipt", attrs, content));
  };
}
