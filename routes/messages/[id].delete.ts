import { defineApi } from "../../src/api/define-api.ts";
import { deleteMessage } from "../../src/api/endpoints/messages.ts";
import { takeBack } from "../../src/api/work/message-changes.ts";

/** `DELETE /messages/{id}`. */
export default defineApi(deleteMessage, takeBack);
