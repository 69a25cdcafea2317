import { defineApi } from "../../src/api/define-api.ts";
import { replayDeliveries } from "../../src/api/endpoints/webhooks.ts";
import { JsonResult } from "../../src/api/answers/envelope.ts";
import { listedDevices } from "../../src/api/access/senders.ts";

/** `POST /deliveries/replay`: one more attempt of each that matches, of the numbers that the key may use. */
export default defineApi(replayDeliveries, async ({ app, caller, input: { device, ...filter } }) => {
  const devices = listedDevices(app, caller, device, "device");
  const replayed = await app.deliveries.replayMany({ ...filter, deviceIds: devices.map(({ id }) => id) });
  return new JsonResult({ replayed }, { httpStatus: 202 });
});
