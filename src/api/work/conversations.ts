import { chatFilter, listedDevices } from "../access/senders.ts";
import { notFound } from "../answers/unmatched.ts";
import type { CallOf } from "../call.ts";
import type { listChats, listMessages, traceMessage } from "../endpoints/conversations.ts";
import { listedChatView, listedMessageView, traceView } from "../views/conversations.ts";

/** Whom the numbers that the key may use write with. @throws SENDER_NOT_FOUND */
export async function chatsOf({ app, caller, input }: CallOf<typeof listChats>) {
  const devices = listedDevices(app, caller, input.sender);
  const { sender: _, chat, ...filter } = input;
  const { chats, ...page } = await app.conversations.chats.list({
    ...filter,
    devices,
    chat: chat?.jid,
    allowed: chatFilter(caller),
  });
  return { ...page, data: chats.map(listedChatView) };
}

/** What the numbers that the key may use received and sent. @throws SENDER_NOT_FOUND */
export async function messagesOf({ app, caller, input }: CallOf<typeof listMessages>) {
  const devices = listedDevices(app, caller, input.sender);
  const { sender: _, chat, ...filter } = input;
  const { messages, ...page } = await app.conversations.messages.list({
    ...filter,
    devices,
    chat: chat?.jid,
    allowed: chatFilter(caller),
  });
  return { ...page, data: messages.map(listedMessageView) };
}

/** Why a message was answered as it was. @throws SENDER_NOT_FOUND, NOT_FOUND */
export async function explainMessage({ app, caller, params, input }: CallOf<typeof traceMessage>) {
  const devices = listedDevices(app, caller, input.sender);
  const id = params["id"];
  const found =
    id === undefined ? null : await app.conversations.traces.of({ id, devices, allowed: chatFilter(caller) });
  if (found === null) throw notFound();
  return { data: traceView(found) };
}
