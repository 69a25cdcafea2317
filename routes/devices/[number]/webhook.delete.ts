import { defineApi } from "../../../src/api/define-api.ts";
import { deleteWebhook } from "../../../src/api/endpoints/webhooks.ts";
import { findDevice } from "../../../src/api/access/senders.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";

/** `DELETE /devices/{number}/webhook`: what is pending ends. */
export default defineApi(deleteWebhook, async ({ app, caller, params }) => {
  const device = findDevice(app, caller, params["number"]);
  if (!(await app.webhooks.remove(device.id))) throw notFound();
});
