import { defineApi } from "../../../src/api/define-api.ts";
import { renewInvite } from "../../../src/api/endpoints/groups-admin.ts";
import { groupOf, linkOf } from "../../../src/api/work/group-admin.ts";

/** `POST /groups/{id}/invite`. */
export default defineApi(renewInvite, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const invite = await app.groupAdmin.invite(deviceId, { id, renew: true });
  return { data: { invite, link: linkOf(invite) } };
});
