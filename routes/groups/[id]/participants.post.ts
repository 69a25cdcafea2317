import { defineApi } from "../../../src/api/define-api.ts";
import { changeMembers } from "../../../src/api/endpoints/groups-admin.ts";
import { changeMembersOf } from "../../../src/api/work/group-admin.ts";

/** `POST /groups/{id}/participants`. */
export default defineApi(changeMembers, ({ app, caller, input, params }) =>
  changeMembersOf(app, caller, input, params["id"]),
);
