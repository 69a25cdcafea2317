import type { Caller } from "../../../accounts/caller.ts";
import { shownAddress } from "../../../conversations/shown.ts";
import { parseDestination } from "../../../model/address.ts";
import { mayReach } from "../../access/recipients.ts";
import { findSender, requireLinked } from "../../access/senders.ts";
import type { App } from "../../services.ts";
import { notFound } from "../../answers/unmatched.ts";

/**
 * Notes that what there is in a chat of a number was read, and tells its writers.
 *
 * @param named the chat, as it stands in the path
 * @returns what the answer says of the chat
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, UNAVAILABLE; NOT_FOUND, also for a chat outside the key's `recipients`
 */
export async function markChatRead(
  app: App,
  caller: Caller,
  { sender, receipts }: { sender: string; receipts: boolean },
  named: string | undefined,
) {
  const device = findSender(app, caller, sender);
  const chat = parseDestination(named ?? "");
  if (chat === null || !(await mayReach(app, caller, device.id, chat.number))) throw notFound();
  const keys = await app.conversations.keysOf(device.id, chat.jid);
  const unread = receipts ? await app.conversations.unread(device.id, keys) : [];
  if (unread.length > 0) {
    requireLinked(app, device);
    await app.receipts.send(device.id, unread);
  }
  await app.conversations.markRead(device.id, keys);
  return { sender: device.number, chat: shownAddress(keys[0]!) };
}
