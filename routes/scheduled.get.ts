import { listedMessageView } from "../src/api/views/conversations.ts";
import { defineApi } from "../src/api/define-api.ts";
import { listScheduled } from "../src/api/endpoints/conversations.ts";
import { chatFilter, listedDevices } from "../src/api/access/senders.ts";

/** `GET /scheduled`: what the numbers that the key may use are to send later. */
export default defineApi(listScheduled, async ({ app, caller, input }) => {
  const devices = listedDevices(app, caller, input.sender);
  const { messages, ...page } = await app.conversations.messages.list({
    devices,
    direction: "out",
    state: "scheduled",
    chat: input.chat?.jid,
    limit: input.limit,
    before: input.before,
    allowed: chatFilter(caller),
  });
  return { ...page, data: messages.map(listedMessageView) };
});
