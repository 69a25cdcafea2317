import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountKeys } from "../../../../src/api/endpoints/accounts.ts";
import { list } from "../../../../src/api/envelope.ts";
import { requireAccount } from "../../../../src/api/operator.ts";
import { keyView } from "../../../../src/api/views.ts";

/** `GET /admin/accounts/{id}/api-keys` */
export default defineApi(listAccountKeys, async ({ app, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return list((await app.keys.list(id)).map(keyView));
});
