import { defineApi } from "../../../src/api/define-api.ts";
import { takeChatOver } from "../../../src/api/endpoints/conversations.ts";
import { takeOver } from "../../../src/api/work/chats/takeover.ts";

/** `POST /chats/{chat}/takeover`: bots pause there. */
export default defineApi(takeChatOver, takeOver);
