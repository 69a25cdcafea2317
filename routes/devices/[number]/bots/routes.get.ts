import { defineApi } from "../../../../src/api/define-api.ts";
import { listDeviceRoutes } from "../../../../src/api/endpoints/bots.ts";
import { findDevice } from "../../../../src/api/access/senders.ts";

/** `GET /devices/{number}/bots/routes`: who is asked in which order. */
export default defineApi(listDeviceRoutes, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  return { data: app.bindings.routes(device.id) };
});
