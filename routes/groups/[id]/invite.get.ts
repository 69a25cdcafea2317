import { defineApi } from "../../../src/api/define-api.ts";
import { groupInvite } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf, linkOf } from "../../../src/api/work/group-admin.ts";

/** `GET /groups/{id}/invite`. */
export default defineApi(groupInvite, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const invite = await app.groupAdmin.invite(deviceId, { id, renew: false });
  return { data: { invite, link: linkOf(invite) } };
});
