import { defineApi } from "../../../src/api/define-api.ts";
import { takeChatOver } from "../../../src/api/endpoints/conversations.ts";
import { setTakeover } from "../../../src/api/work/takeover.ts";

/** `POST /chats/{chat}/takeover`: bots pause there. */
export default defineApi(takeChatOver, async ({ app, caller, input, params }) => {
  const minutes = input.minutes ?? app.config.takeoverMinutes;
  return { data: await setTakeover(app, caller, input.sender, params["chat"], minutes) };
});
