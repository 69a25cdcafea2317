import { defineApi } from "../../src/api/define-api.ts";
import { listAccounts } from "../../src/api/endpoints/accounts.ts";
import { accountView } from "../../src/api/views.ts";

/** `GET /admin/accounts` */
export default defineApi(listAccounts, async ({ app }) => {
  const [found, total] = await Promise.all([app.accounts.list(), app.accounts.count()]);
  return { total, data: found.map(accountView) };
});
