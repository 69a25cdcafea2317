import { defineApi } from "../src/api/define-api.ts";
import { createDevice } from "../src/api/endpoints/numbers.ts";
import { findOrRegister } from "../src/api/work/link.ts";
import { deviceView } from "../src/api/views/views.ts";

/** `POST /devices`: registers without linking; a number that is there already is answered as it is. */
export default defineApi(createDevice, async ({ app, caller, input }) => ({
  data: deviceView(await findOrRegister(app, caller, input.device)),
}));
