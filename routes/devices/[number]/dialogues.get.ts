import { dialogueView } from "../../../src/api/views/conversations.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { listDialogues } from "../../../src/api/endpoints/conversations.ts";
import { chatFilter, findDevice } from "../../../src/api/access/senders.ts";

/** `GET /devices/{number}/dialogues`: what bots are in the middle of. */
export default defineApi(listDialogues, async ({ app, caller, input, params }) => {
  const { id: deviceId } = findDevice(app, caller, params["number"]);
  const allowed = chatFilter(caller);
  const { dialogues, ...page } = await app.conversations.dialogues.list({ ...input, deviceId, allowed });
  return { ...page, data: dialogues.map(dialogueView) };
});
