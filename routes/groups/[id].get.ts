import { defineApi } from "../../src/api/define-api.ts";
import { groupDetails } from "../../src/api/endpoints/groups-admin.ts";
import { detailsView, groupOf } from "../../src/api/work/group-admin.ts";

/** `GET /groups/{id}`. */
export default defineApi(groupDetails, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  return { data: detailsView(await app.groupAdmin.details(deviceId, id)) };
});
