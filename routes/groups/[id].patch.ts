import { defineApi } from "../../src/api/define-api.ts";
import { changeGroup } from "../../src/api/endpoints/groups-admin.ts";
import { detailsView, groupOf, settingsOf } from "../../src/api/work/group-admin.ts";
import { pictureAt } from "../../src/api/work/profiles.ts";

/** `PATCH /groups/{id}`. */
export default defineApi(changeGroup, async (call) => {
  const { app, caller, input, params } = call;
  const { deviceId, id } = await groupOf(app, caller, input.sender, params["id"]);
  const picture = await pictureAt(call, deviceId, input.picture_url);
  const settings = { ...settingsOf(input), ...(picture !== undefined && { picture }) };
  await app.groupAdmin.change(deviceId, { id, settings });
  return { data: detailsView(await app.groupAdmin.details(deviceId, id)) };
});
