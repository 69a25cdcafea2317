import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountKeys } from "../../../../src/api/endpoints/operator/accounts.ts";
import { pageView } from "../../../../src/api/answers/envelope.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";
import { keyView } from "../../../../src/api/views/views.ts";

/** `GET /admin/accounts/{id}/api-keys` */
export default defineApi(listAccountKeys, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return pageView(await app.keys.list(id, input), keyView);
});
