import type { Caller } from "../../../accounts/caller.ts";
import { shownAddress } from "../../../conversations/shown.ts";
import { FOR_EVER, type ChatSettings, type LastMessage } from "../../../directory/chat-settings.ts";
import { parseDestination } from "../../../model/address.ts";
import type { DeviceRecord } from "../../../numbers/numbers.ts";
import { mayReach } from "../../access/recipients.ts";
import { findSender, requireLinked } from "../../access/senders.ts";
import { notFound } from "../../answers/unmatched.ts";
import type { CallOf } from "../../call.ts";
import type { changeChat } from "../../endpoints/conversations.ts";
import type { App } from "../../services.ts";
import { chatSettingsView } from "../../views/conversations.ts";

/** From here on nobody means a time. */
const YEAR_9000 = Date.UTC(9000, 0);

/**
 * Has the number's phone show a chat in another way.
 *
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, and what `ChatSettingsBook` throws; NOT_FOUND for a chat in which nothing was ever
 *   written, for channels, and outside of the key's `recipients`; CANNOT_SEND where only admins of a group may
 */
export async function changeChatOf({ app, caller, input, params }: CallOf<typeof changeChat>) {
  const device = findSender(app, caller, input.sender);
  const keys = await chatOf(app, caller, device, params["chat"]);
  const settings = settingsIn(input);
  requireLinked(app, device);
  // Before anything else: a group may not let this number set it.
  if (input.disappearing !== undefined) await setTimer(app, device.id, keys, input.disappearing);
  if (Object.keys(settings).length > 0)
    await app.chatSettings.change(device.id, { keys, settings, last: await lastOf(app, device, keys) });
  if (input.unread === false) await app.conversations.markRead(device.id, keys);
  const shown = await app.conversations.settingsOf(device.id, keys);
  return {
    data: { sender: device.number, chat: shownAddress(keys[0]!), ...chatSettingsView(shown) },
  };
}

async function chatOf(app: App, caller: Caller, device: DeviceRecord, named: string | undefined) {
  const chat = parseDestination(named ?? "");
  if (chat === null || chat.kind === "channel") throw notFound();
  if (!(await mayReach(app, caller, device.id, chat.number))) throw notFound();
  const keys = await app.conversations.keysOf(device.id, chat.jid);
  if (!(await app.conversations.isKnown(device.id, keys))) throw notFound();
  return keys;
}

function settingsIn({
  archived,
  pinned,
  muted_until: mutedUntil,
  unread,
}: CallOf<typeof changeChat>["input"]): ChatSettings {
  return {
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned }),
    ...(mutedUntil !== undefined && {
      mutedUntil: mutedUntil !== null && mutedUntil >= YEAR_9000 ? FOR_EVER : mutedUntil,
    }),
    ...(unread !== undefined && { unread }),
  };
}

async function setTimer(app: App, deviceId: number, keys: readonly string[], seconds: number): Promise<void> {
  const [chat] = keys;
  if (chat!.endsWith("@g.us"))
    await app.groupAdmin.change(deviceId, { id: chat!, settings: { ephemeral: seconds } });
  else await app.chatSettings.setTimer(deviceId, { keys, seconds });
}

/** Phones take what is said of a chat up to a message of it. */
async function lastOf(app: App, device: DeviceRecord, keys: readonly string[]): Promise<LastMessage | null> {
  const devices = [device];
  const { chats } = await app.conversations.chats.list({ devices, chat: keys[0]!, limit: 1, allowed: null });
  const id = chats[0]?.last.id;
  const [found] = id === undefined ? [] : await app.conversations.lookUp(devices, id);
  if (found === undefined || found.at === null) return null;
  const { by, participant, at } = found;
  return { id: found.id, fromMe: by !== "contact", participant, timestamp: Math.floor(at / 1000) };
}
