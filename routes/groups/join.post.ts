import { JsonResult } from "../../src/api/answers/envelope.ts";
import { defineApi } from "../../src/api/define-api.ts";
import { joinGroup } from "../../src/api/endpoints/groups-admin.ts";
import { findSender, requireLinked } from "../../src/api/access/senders.ts";

/** `POST /groups/join`: where admins decide it is 202. */
export default defineApi(joinGroup, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  const { id, requested } = await app.groupAdmin.join(device.id, input.invite);
  return requested
    ? new JsonResult({ id, state: "requested" }, { httpStatus: 202, message: "Asked to join." })
    : new JsonResult({ id, state: "joined" });
});
