import { defineApi } from "../../../src/api/define-api.ts";
import { deleteAccount } from "../../../src/api/endpoints/operator/accounts.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";

/** `DELETE /admin/accounts/{id}`: logs its numbers out and erases everything. */
export default defineApi(deleteAccount, async ({ app, params }) => {
  if (!(await app.accounts.remove(params["id"]!))) throw notFound();
});
