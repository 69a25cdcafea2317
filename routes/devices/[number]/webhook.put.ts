import { defineApi } from "../../../src/api/define-api.ts";
import { putWebhook } from "../../../src/api/endpoints/webhooks.ts";
import { findDevice } from "../../../src/api/access/senders.ts";
import { webhookView } from "../../../src/api/views/views.ts";
import { requestedWebhook } from "../../../src/api/work/webhooks/webhooks.ts";

/** `PUT /devices/{number}/webhook`: replaces all; the secret is shown when it is first made. */
export default defineApi(putWebhook, async ({ app, caller, input, params }) => {
  const device = findDevice(app, caller, params["number"]);
  const { config, secret } = await app.webhooks.put(device.id, requestedWebhook(input, app.config));
  return { data: webhookView(config), ...(secret === null ? {} : { secret }) };
});
