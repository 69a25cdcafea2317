import { defineApi } from "../src/api/define-api.ts";
import { sendMessage } from "../src/api/endpoints/messages.ts";
import { sendText } from "../src/api/work/send.ts";

/** `POST /send-message`: text to 1 to 10 destinations. */
export default defineApi(sendMessage, sendText);
