import { defineApi } from "../../../src/api/define-api.ts";
import { joinRequests } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf } from "../../../src/api/work/group-admin.ts";
import { iso } from "../../../src/api/views/views.ts";

/** `GET /groups/{id}/requests`. */
export default defineApi(joinRequests, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const requests = await app.groupAdmin.requests(deviceId, id);
  return { data: requests.map(({ at, ...person }) => ({ ...person, at: iso(at) })) };
});
