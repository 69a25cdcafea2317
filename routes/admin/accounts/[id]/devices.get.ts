import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountDevices } from "../../../../src/api/endpoints/accounts.ts";
import { list } from "../../../../src/api/envelope.ts";
import { requireAccount } from "../../../../src/api/operator.ts";
import { deviceView } from "../../../../src/api/views.ts";

/** `GET /admin/accounts/{id}/devices` */
export default defineApi(listAccountDevices, async ({ app, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return list(app.numbers.list(id).map(deviceView));
});
