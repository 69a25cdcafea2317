import { defineApi } from "../../src/api/define-api.ts";
import { listAllDevices } from "../../src/api/endpoints/gateway-health.ts";
import { pageView } from "../../src/api/envelope.ts";
import { accountNames } from "../../src/api/operator.ts";
import { currentPage, devicePage, matchingDevices } from "../../src/api/senders.ts";
import { deviceView } from "../../src/api/views.ts";

/** `GET /admin/devices`: of all accounts. */
export default defineApi(listAllDevices, async ({ app, input }) => {
  const page = await currentPage(app, devicePage(matchingDevices(app, input), input));
  const names = await accountNames(
    app,
    page.items.map(({ accountId }) => accountId),
  );
  return pageView(page, (device) => ({
    ...deviceView(device),
    account: { id: device.accountId, name: names.get(device.accountId) ?? "" },
  }));
});
