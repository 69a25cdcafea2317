import { defineApi } from "../src/api/define-api.ts";
import { sendMessageByGet } from "../src/api/endpoints/messages.ts";
import { sendText } from "../src/api/work/send.ts";

/** `GET /send-message`: the same from a query string. */
export default defineApi(sendMessageByGet, sendText);
