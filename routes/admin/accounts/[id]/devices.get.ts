import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountDevices } from "../../../../src/api/endpoints/operator/accounts.ts";
import { pageView } from "../../../../src/api/answers/envelope.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";
import { currentPage, devicePage } from "../../../../src/api/access/senders.ts";
import { deviceView } from "../../../../src/api/views/views.ts";

/** `GET /admin/accounts/{id}/devices` */
export default defineApi(listAccountDevices, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return pageView(await currentPage(app, devicePage(app.numbers.list(id), input)), deviceView);
});
