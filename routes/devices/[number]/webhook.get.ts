import { defineApi } from "../../../src/api/define-api.ts";
import { getWebhook } from "../../../src/api/endpoints/webhooks.ts";
import { webhookView } from "../../../src/api/views/views.ts";
import { ofDevice } from "../../../src/api/work/webhooks/webhooks.ts";

/** `GET /devices/{number}/webhook` */
export default defineApi(getWebhook, async ({ app, caller, params }) => ({
  data: webhookView(await ofDevice(app, caller, params["number"], (id) => app.webhooks.get(id))),
}));
