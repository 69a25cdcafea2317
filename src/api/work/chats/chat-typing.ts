import type { Caller } from "../../../accounts/caller.ts";
import { shownAddress } from "../../../conversations/shown.ts";
import { parseDestination } from "../../../model/address.ts";
import type { ChatPresence } from "../../../directory/chat-presence.ts";
import { mayReach } from "../../access/recipients.ts";
import { findSender, requireLinked } from "../../access/senders.ts";
import { notFound } from "../../answers/unmatched.ts";
import type { App } from "../../services.ts";

interface Shown {
  sender: string;
  state: ChatPresence;
  seconds: number;
}

/**
 * Shows in a chat that somebody is typing or recording.
 *
 * @param named the chat, as it stands in the path
 * @returns what the answer says of it
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, UNAVAILABLE; NOT_FOUND, also for a chat outside the key's `recipients`
 */
export async function showTyping(
  app: App,
  caller: Caller,
  { sender, state, seconds }: Shown,
  named: string | undefined,
) {
  const device = findSender(app, caller, sender);
  const chat = parseDestination(named ?? "");
  if (chat === null || !(await mayReach(app, caller, device.id, chat.number))) throw notFound();
  requireLinked(app, device);
  const keys = await app.conversations.keysOf(device.id, chat.jid);
  // Nothing is told to strangers: whoever was never written with would see a number that "types".
  if (await app.conversations.isKnown(device.id, keys))
    await app.presences.show(device.id, { chat: onTheWire(keys), state, seconds });
  return { sender: device.number, chat: shownAddress(keys[0]!), state };
}

/** A person whose LID is known is written to under it. */
const onTheWire = (keys: readonly string[]): string => keys.find((key) => key.endsWith("@lid")) ?? keys[0]!;
