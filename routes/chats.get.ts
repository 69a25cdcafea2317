import { defineApi } from "../src/api/define-api.ts";
import { listChats } from "../src/api/endpoints/conversations.ts";
import { chatsOf } from "../src/api/work/conversations.ts";

/** `GET /chats`: whom the numbers that the key may use write with. */
export default defineApi(listChats, chatsOf);
