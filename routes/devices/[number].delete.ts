import { defineApi } from "../../src/api/define-api.ts";
import { deleteDevice } from "../../src/api/endpoints/numbers.ts";
import { findDevice } from "../../src/api/access/senders.ts";

/** `DELETE /devices/{number}`: logs out and erases. */
export default defineApi(deleteDevice, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  await app.numbers.remove(device.id);
});
