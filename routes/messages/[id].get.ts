import { defineApi } from "../../src/api/define-api.ts";
import { getMessage } from "../../src/api/endpoints/messages.ts";
import { findAnyMessage, recordOf } from "../../src/api/work/message-actions.ts";

/** `GET /messages/{id}`: what became of a message. */
export default defineApi(getMessage, async ({ app, caller, params, input }) => ({
  data: await recordOf(app, caller, await findAnyMessage(app, caller, input.sender, params["id"])),
}));
