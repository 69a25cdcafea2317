import { defineApi } from "../../../src/api/define-api.ts";
import { decideRequests } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf, outcomesView } from "../../../src/api/work/group-admin.ts";

/** `POST /groups/{id}/requests`. */
export default defineApi(decideRequests, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const people = input.numbers.map(({ jid }) => jid);
  const outcomes = await app.groupAdmin.decide(deviceId, { id, action: input.action, people });
  return { results: outcomesView(input.numbers, outcomes) };
});
