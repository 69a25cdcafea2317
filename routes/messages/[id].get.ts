import { defineApi } from "../../src/api/define-api.ts";
import { getMessage } from "../../src/api/endpoints/messages.ts";
import { findMessage } from "../../src/api/access/senders.ts";
import { messageView } from "../../src/api/views/views.ts";

/** `GET /messages/{id}`: what became of a message that was sent. */
export default defineApi(getMessage, async ({ app, caller, params }) => ({
  data: messageView(await findMessage(app, caller, params["id"])),
}));
