import { defineApi } from "../../../src/api/define-api.ts";
import { getAccount } from "../../../src/api/endpoints/operator/accounts.ts";
import { requireAccount } from "../../../src/api/access/operator.ts";
import { accountView } from "../../../src/api/views/views.ts";

/** `GET /admin/accounts/{id}` */
export default defineApi(getAccount, async ({ app, params }) => ({
  data: accountView(await requireAccount(app, params["id"])),
}));
