import { defineApi } from "../../src/api/define-api.ts";
import { getDevice } from "../../src/api/endpoints/numbers.ts";
import { current, findDevice } from "../../src/api/access/senders.ts";
import { deviceView } from "../../src/api/views/views.ts";

/** `GET /devices/{number}` */
export default defineApi(getDevice, async ({ app, caller, params }) => ({
  data: deviceView(await current(app, findDevice(app, caller, params["number"]))),
}));
