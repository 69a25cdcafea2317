import { markChatRead } from "../../../src/api/work/chats/chat-read.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { readChat } from "../../../src/api/endpoints/conversations.ts";

/** `POST /chats/{chat}/read`: somebody has read what there is. */
export default defineApi(readChat, async ({ app, caller, input, params }) => ({
  data: await markChatRead(app, caller, input, params["chat"]),
}));
