import { defineApi } from "../../../../src/api/define-api.ts";
import { testWebhook } from "../../../../src/api/endpoints/webhooks.ts";
import { webhookTestView } from "../../../../src/api/views/views.ts";
import { ofDevice } from "../../../../src/api/work/webhooks/webhooks.ts";

/** `POST /devices/{number}/webhook/test`: posts a sample event, sends nothing to WhatsApp. */
export default defineApi(testWebhook, async ({ app, caller, params }) => {
  const result = await ofDevice(app, caller, params["number"], (id) => app.webhooks.test(id));
  return { data: webhookTestView(result) };
});
