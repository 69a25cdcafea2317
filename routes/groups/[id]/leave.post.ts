import { defineApi } from "../../../src/api/define-api.ts";
import { leaveGroup } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf } from "../../../src/api/work/group-admin.ts";

/** `POST /groups/{id}/leave`. */
export default defineApi(leaveGroup, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  await app.groupAdmin.leave(deviceId, id);
  return { id };
});
