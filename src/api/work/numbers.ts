import type { CallOf } from "../call.ts";
import { pageView } from "../answers/envelope.ts";
import { currentPage, devicePage, visibleDevices } from "../access/senders.ts";
import type { listDevices, whyDevice } from "../endpoints/numbers.ts";
import { deviceView, whyView } from "../views/views.ts";
import { ofDevice } from "./webhooks/webhooks.ts";

/** The numbers that the key may use. */
export const listNumbers = async ({ app, caller, input }: CallOf<typeof listDevices>) =>
  pageView(await currentPage(app, devicePage(visibleDevices(app, caller), input)), deviceView);

/**
 * Why a number is in its state, and what to do.
 *
 * @throws NOT_FOUND
 */
export const explainNumber = async ({ app, caller, params }: CallOf<typeof whyDevice>) => ({
  data: await ofDevice(app, caller, params["number"], async (id) => {
    const why = await app.numbers.why(id);
    return why && whyView(why, await app.webhookTroubles.of(id));
  }),
});
