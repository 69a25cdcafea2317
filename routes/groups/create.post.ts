import { defineApi } from "../../src/api/define-api.ts";
import { createGroup } from "../../src/api/endpoints/groups-admin.ts";
import { makeGroup } from "../../src/api/work/group-admin.ts";

/** `POST /groups/create`. */
export default defineApi(createGroup, ({ app, caller, input }) => makeGroup(app, caller, input));
