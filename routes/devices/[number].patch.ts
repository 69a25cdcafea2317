import { defineApi } from "../../src/api/define-api.ts";
import { changeDevice } from "../../src/api/endpoints/numbers.ts";
import { findDevice } from "../../src/api/access/senders.ts";
import { deviceView } from "../../src/api/views/views.ts";

/** `PATCH /devices/{number}`: what is left out stays as it is. */
export default defineApi(changeDevice, async ({ app, caller, input, params }) => {
  const { id } = findDevice(app, caller, params["number"]);
  const { calls, calls_text: text, proxy } = input;
  const settings = {
    ...(calls && { calls }),
    ...(text !== undefined && { callsText: text || null }),
    ...(proxy !== undefined && { proxy: proxy || null }),
  };
  return { data: deviceView(await app.numbers.change(id, settings)) };
});
