import { defineApi } from "../../../src/api/define-api.ts";
import { getDeviceBots } from "../../../src/api/endpoints/bots.ts";
import { list } from "../../../src/api/answers/envelope.ts";
import { findDevice } from "../../../src/api/access/senders.ts";

/** `GET /devices/{number}/bots`: which bots answer there. */
export default defineApi(getDeviceBots, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  return list(app.bindings.list(device.id));
});
