import { defineApi } from "../src/api/define-api.ts";
import { listMessages } from "../src/api/endpoints/conversations.ts";
import { messagesOf } from "../src/api/work/conversations.ts";

/** `GET /messages`: what the numbers that the key may use received and sent. */
export default defineApi(listMessages, messagesOf);
