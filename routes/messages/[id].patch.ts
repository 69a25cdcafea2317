import { defineApi } from "../../src/api/define-api.ts";
import { editMessage } from "../../src/api/endpoints/messages.ts";
import { edit } from "../../src/api/work/message-changes.ts";

/** `PATCH /messages/{id}`. */
export default defineApi(editMessage, edit);
