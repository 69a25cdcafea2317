import { defineApi } from "../../../src/api/define-api.ts";
import { listDecisions } from "../../../src/api/endpoints/decisions.ts";
import { findDevice } from "../../../src/api/access/senders.ts";
import { storedDecisionView } from "../../../src/api/views/views.ts";

/** `GET /devices/{number}/decisions`: who was asked about each message, and what came of it. */
export default defineApi(listDecisions, async ({ app, caller, input, params }) => {
  const device = findDevice(app, caller, params["number"]);
  const { decisions, ...page } = await app.decisions.list({
    deviceId: device.id,
    message: input.message,
    chats: input.chat?.map(({ jid }) => jid),
    limit: input.limit,
    before: input.before,
  });
  return { ...page, data: decisions.map(storedDecisionView) };
});
