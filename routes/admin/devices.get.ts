import { defineApi } from "../../src/api/define-api.ts";
import { listAllDevices } from "../../src/api/endpoints/operator/gateway-health.ts";
import { pageView } from "../../src/api/answers/envelope.ts";
import { accountNames } from "../../src/api/access/operator.ts";
import { currentPage, devicePage, matchingDevices } from "../../src/api/access/senders.ts";
import { deviceView } from "../../src/api/views/views.ts";

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
