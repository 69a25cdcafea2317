import { listedChatView } from "../src/api/views/conversations.ts";
import { defineApi } from "../src/api/define-api.ts";
import { listChats } from "../src/api/endpoints/conversations.ts";
import { chatFilter, listedDevices } from "../src/api/access/senders.ts";

/** `GET /chats`: whom the numbers that the key may use write with. */
export default defineApi(listChats, async ({ app, caller, input }) => {
  const devices = listedDevices(app, caller, input.sender);
  const { sender: _, chat, ...filter } = input;
  const { chats, ...page } = await app.conversations.chats.list({
    ...filter,
    devices,
    chat: chat?.jid,
    allowed: chatFilter(caller),
  });
  return { ...page, data: chats.map(listedChatView) };
});
