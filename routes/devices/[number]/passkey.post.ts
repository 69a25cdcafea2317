import { defineApi } from "../../../src/api/define-api.ts";
import { answerPasskey } from "../../../src/api/endpoints/numbers.ts";
import { findDevice } from "../../../src/api/access/senders.ts";

/** `POST /devices/{number}/passkey`: hands over what the owner's browser answered. */
export default defineApi(answerPasskey, async ({ app, caller, params, input }) => {
  const device = findDevice(app, caller, params["number"]);
  return app.numbers.answerPasskey(device.id, input.assertion);
});
