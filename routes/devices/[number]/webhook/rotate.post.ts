import { defineApi } from "../../../../src/api/define-api.ts";
import { rotateWebhook } from "../../../../src/api/endpoints/webhooks.ts";
import { webhookView } from "../../../../src/api/views/views.ts";
import { ofDevice } from "../../../../src/api/work/webhooks/webhooks.ts";

/** `POST /devices/{number}/webhook/rotate`: old and new secret both sign for 24 hours. */
export default defineApi(rotateWebhook, async ({ app, caller, params }) => {
  const { config, secret } = await ofDevice(app, caller, params["number"], (id) => app.webhooks.rotate(id));
  return { data: webhookView(config), secret };
});
