import { defineApi } from "../../../src/api/define-api.ts";
import { showTyping as typing } from "../../../src/api/endpoints/conversations.ts";
import { showTyping } from "../../../src/api/work/chats/chat-typing.ts";

/** `POST /chats/{chat}/typing`. */
export default defineApi(typing, async ({ app, caller, input, params }) => ({
  data: await showTyping(app, caller, input, params["chat"]),
}));
