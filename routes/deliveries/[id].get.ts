import { defineApi } from "../../src/api/define-api.ts";
import { getDelivery } from "../../src/api/endpoints/webhooks.ts";
import { deliveryView } from "../../src/api/views/views.ts";
import { findDelivery } from "../../src/api/work/webhooks/webhooks.ts";

/** `GET /deliveries/{id}` */
export default defineApi(getDelivery, async ({ app, caller, params }) => ({
  data: deliveryView(await findDelivery(app, caller, params["id"])),
}));
