import { defineApi } from "../../../src/api/define-api.ts";
import { handChatBack } from "../../../src/api/endpoints/conversations.ts";
import { setTakeover } from "../../../src/api/work/takeover.ts";

/** `DELETE /chats/{chat}/takeover`: bots go on there. */
export default defineApi(handChatBack, async ({ app, caller, input, params }) => ({
  data: await setTakeover(app, caller, input.sender, params["chat"], 0),
}));
