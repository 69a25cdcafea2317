import { defineApi } from "../../../src/api/define-api.ts";
import { whyDevice } from "../../../src/api/endpoints/numbers.ts";
import { whyView } from "../../../src/api/views/views.ts";
import { ofDevice } from "../../../src/api/work/webhooks.ts";

/** `GET /devices/{number}/why`: why it is in its state, and what to do. */
export default defineApi(whyDevice, async ({ app, caller, params }) => ({
  data: await ofDevice(app, caller, params["number"], async (id) => {
    const why = await app.numbers.why(id);
    return why && whyView(why, await app.webhookTroubles.of(id));
  }),
}));
