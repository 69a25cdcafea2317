import type { Caller } from "../../../accounts/caller.ts";
import { MINUTE_MS } from "../../../model/time.ts";
import { findChat, findSender } from "../../access/senders.ts";
import type { CallOf } from "../../call.ts";
import type { handChatBack, takeChatOver } from "../../endpoints/conversations.ts";
import type { App } from "../../services.ts";
import { iso } from "../../views/views.ts";

/** Bots pause in the chat. */
export const takeOver = async ({ app, caller, input, params }: CallOf<typeof takeChatOver>) => ({
  data: await setTakeover(
    app,
    caller,
    input.sender,
    params["chat"],
    input.minutes ?? app.config.takeoverMinutes,
  ),
});

/** Bots go on in the chat. */
export const handBack = async ({ app, caller, input, params }: CallOf<typeof handChatBack>) => ({
  data: await setTakeover(app, caller, input.sender, params["chat"], 0),
});

/**
 * Lets bots pause in a chat of a number, or go on.
 *
 * @param chat    as it stands in the path
 * @param minutes from now on; 0: bots go on at once
 * @returns what the answer says of the chat
 * @throws NOT_FOUND, SENDER_NOT_FOUND, RECIPIENT_NOT_ALLOWED
 */
async function setTakeover(
  app: App,
  caller: Caller,
  sender: string,
  chat: string | undefined,
  minutes: number,
) {
  const device = findSender(app, caller, sender);
  const { jid } = await findChat(app, caller, device, chat);
  const keys = await app.conversations.keysOf(device.id, jid);
  const until = await app.conversations.takeOver(device.id, keys, minutes * MINUTE_MS);
  return {
    sender: device.number,
    chat: keys[0]!.replace(/@s\.whatsapp\.net$/, ""),
    taken_over_until: until === null ? null : iso(until),
  };
}
