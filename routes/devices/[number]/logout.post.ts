import { defineApi } from "../../../src/api/define-api.ts";
import { logoutDevice } from "../../../src/api/endpoints/numbers.ts";
import { current, findDevice } from "../../../src/api/access/senders.ts";
import { deviceView } from "../../../src/api/views/views.ts";

/** `POST /devices/{number}/logout`: keeps record and webhook. */
export default defineApi(logoutDevice, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  await app.numbers.logout(device.id);
  return { data: deviceView(await current(app, findDevice(app, caller, device.number))) };
});
