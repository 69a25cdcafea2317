import { defineApi } from "../../../src/api/define-api.ts";
import { getAccount } from "../../../src/api/endpoints/accounts.ts";
import { requireAccount } from "../../../src/api/operator.ts";
import { accountView } from "../../../src/api/views.ts";

/** `GET /admin/accounts/{id}` */
export default defineApi(getAccount, async ({ app, params }) => ({
  data: accountView(await requireAccount(app, params["id"])),
}));
