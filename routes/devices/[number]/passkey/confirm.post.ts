import { defineApi } from "../../../../src/api/define-api.ts";
import { confirmPasskey } from "../../../../src/api/endpoints/numbers.ts";
import { findDevice } from "../../../../src/api/access/senders.ts";

/** `POST /devices/{number}/passkey/confirm`: the code on the phone is the one that was shown. */
export default defineApi(confirmPasskey, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  return app.numbers.confirmPasskey(device.id);
});
