import { defineApi } from "../../../src/api/define-api.ts";
import { changeMembers } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf, outcomesView } from "../../../src/api/work/group-admin.ts";

/** `POST /groups/{id}/participants`. */
export default defineApi(changeMembers, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const people = input.numbers.map(({ jid }) => jid);
  const outcomes = await app.groupAdmin.members(deviceId, { id, action: input.action, people });
  return { results: outcomesView(input.numbers, outcomes) };
});
