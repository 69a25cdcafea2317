import { defineApi } from "../src/api/define-api.ts";
import { generateQr } from "../src/api/endpoints/numbers.ts";
import { findOrRegister, linkResult } from "../src/api/work/link.ts";

/** `POST /generate-qr`: links a number; asked again and again until it is connected. */
export default defineApi(generateQr, async ({ app, caller, event, input }) => {
  event.context.hasChanged = app.numbers.find(caller.accountId, input.device) === null;
  const device = await findOrRegister(app, caller, input.device);
  const link = await app.numbers.link(device.id, { force: input.force, method: input.method });
  return linkResult(device.number, link, app.config.mpwaCompat);
});
