import { requireKnownBindings } from "../../../src/api/work/bots.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { patchDeviceBots } from "../../../src/api/endpoints/bots.ts";
import { list } from "../../../src/api/answers/envelope.ts";
import { findDevice } from "../../../src/api/access/senders.ts";

/** `PATCH /devices/{number}/bots`: changes what is named. */
export default defineApi(patchDeviceBots, async ({ app, caller, input, params }) => {
  requireKnownBindings(app, input.bots);
  const device = findDevice(app, caller, params["number"]);
  return list(await app.bindings.change(device.id, input.bots));
});
