import { defineApi } from "../src/api/define-api.ts";
import { listDevices } from "../src/api/endpoints/numbers.ts";
import { pageView } from "../src/api/answers/envelope.ts";
import { currentPage, devicePage, visibleDevices } from "../src/api/access/senders.ts";
import { deviceView } from "../src/api/views/views.ts";

/** `GET /devices`: the numbers that the key may use. */
export default defineApi(listDevices, async ({ app, caller, input }) =>
  pageView(await currentPage(app, devicePage(visibleDevices(app, caller), input)), deviceView),
);
