import { defineApi } from "../src/api/define-api.ts";
import { listDeliveries } from "../src/api/endpoints/webhooks.ts";
import { listedDevices } from "../src/api/access/senders.ts";
import { deliveryView } from "../src/api/views/views.ts";

/** `GET /deliveries`: newest first, of the numbers that the key may use. */
export default defineApi(listDeliveries, async ({ app, caller, input }) => {
  const deviceIds = listedDevices(app, caller, input.device, "device").map(({ id }) => id);
  const { deliveries, ...page } = await app.deliveries.list({
    deviceIds,
    state: input.state,
    messageId: input.message_id,
    limit: input.limit,
    before: input.before,
  });
  return { ...page, data: deliveries.map(deliveryView) };
});
