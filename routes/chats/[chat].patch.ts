import { defineApi } from "../../src/api/define-api.ts";
import { changeChat } from "../../src/api/endpoints/conversations.ts";
import { changeChatOf } from "../../src/api/work/chats/chat-settings.ts";

/** `PATCH /chats/{chat}`. */
export default defineApi(changeChat, changeChatOf);
