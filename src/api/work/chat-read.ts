import type { Caller } from "../../accounts/caller.ts";
import { shownAddress } from "../../conversations/shown.ts";
import { parseDestination } from "../../model/address.ts";
import { mayReach } from "../access/recipients.ts";
import { findSender } from "../access/senders.ts";
import type { App } from "../services.ts";
import { notFound } from "../answers/unmatched.ts";

/**
 * Notes that what there is in a chat of a number was read.
 *
 * @param named the chat, as it stands in the path
 * @returns what the answer says of the chat
 * @throws SENDER_NOT_FOUND; NOT_FOUND, also for a chat outside the key's `recipients`
 */
export async function markChatRead(app: App, caller: Caller, sender: string, named: string | undefined) {
  const device = findSender(app, caller, sender);
  const chat = parseDestination(named ?? "");
  if (chat === null || !(await mayReach(app, caller, device.id, chat.number))) throw notFound();
  const keys = await app.conversations.keysOf(device.id, chat.jid);
  await app.conversations.markRead(device.id, keys);
  return { sender: device.number, chat: shownAddress(keys[0]!) };
}
