import { defineApi } from "../../src/api/define-api.ts";
import { changeGroup } from "../../src/api/endpoints/groups-admin.ts";
import { detailsView, groupOf, settingsOf } from "../../src/api/work/group-admin.ts";

/** `PATCH /groups/{id}`. */
export default defineApi(changeGroup, async ({ app, caller, input, params }) => {
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  await app.groupAdmin.change(deviceId, { id, settings: settingsOf(input) });
  return { data: detailsView(await app.groupAdmin.details(deviceId, id)) };
});
