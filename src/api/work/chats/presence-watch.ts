import { shownAddress } from "../../../conversations/shown.ts";
import { parseDestination } from "../../../model/address.ts";
import { mayReach } from "../../access/recipients.ts";
import { findSender, requireLinked } from "../../access/senders.ts";
import { notFound } from "../../answers/unmatched.ts";
import type { CallOf } from "../../call.ts";
import type { watchPresence } from "../../endpoints/conversations.ts";
import { iso } from "../../views/views.ts";

/**
 * Lets `presence` events of a chat come for a while.
 *
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, UNAVAILABLE, RATE_LIMITED; NOT_FOUND for a chat in which nothing was ever written, for
 *   channels, and outside of the key's `recipients`
 */
export async function watchPresenceOf({ app, caller, input, params }: CallOf<typeof watchPresence>) {
  const device = findSender(app, caller, input.sender);
  const chat = parseDestination(params["chat"] ?? "");
  if (chat === null || chat.kind === "channel") throw notFound();
  if (!(await mayReach(app, caller, device.id, chat.number))) throw notFound();
  const keys = await app.conversations.keysOf(device.id, chat.jid);
  // Nobody is watched whom the number has nothing to do with.
  if (!(await app.conversations.isKnown(device.id, keys))) throw notFound();
  requireLinked(app, device);
  const until = await app.presenceWatch.watch(device.id, { keys, seconds: input.seconds });
  return { data: { sender: device.number, chat: shownAddress(keys[0]!), until: iso(until) } };
}
