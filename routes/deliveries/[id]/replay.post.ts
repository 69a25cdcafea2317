import { defineApi } from "../../../src/api/define-api.ts";
import { replayDelivery } from "../../../src/api/endpoints/webhooks.ts";
import { JsonResult } from "../../../src/api/answers/envelope.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";
import { deliveryView } from "../../../src/api/views/views.ts";
import { findDelivery } from "../../../src/api/work/webhooks/webhooks.ts";

/** `POST /deliveries/{id}/replay`: one more attempt under the same id. */
export default defineApi(replayDelivery, async ({ app, caller, params }) => {
  const { id } = await findDelivery(app, caller, params["id"]);
  const delivery = await app.deliveries.replay(caller.accountId, id);
  if (delivery === null) throw notFound();
  return new JsonResult({ data: deliveryView(delivery) }, { httpStatus: 202 });
});
