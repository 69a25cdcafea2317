import { defineApi } from "../../../src/api/define-api.ts";
import { reactToMessage } from "../../../src/api/endpoints/messages.ts";
import { react } from "../../../src/api/work/message-actions.ts";

/** `POST /messages/{id}/reaction`. */
export default defineApi(reactToMessage, react);
