import { listedMessageView } from "../src/api/views/conversations.ts";
import { defineApi } from "../src/api/define-api.ts";
import { listMessages } from "../src/api/endpoints/conversations.ts";
import { chatFilter, listedDevices } from "../src/api/access/senders.ts";

/** `GET /messages`: what the numbers that the key may use received and sent. */
export default defineApi(listMessages, async ({ app, caller, input }) => {
  const devices = listedDevices(app, caller, input.sender);
  const { sender: _, chat, ...filter } = input;
  const { messages, ...page } = await app.conversations.messages.list({
    ...filter,
    devices,
    chat: chat?.jid,
    allowed: chatFilter(caller),
  });
  return { ...page, data: messages.map(listedMessageView) };
});
