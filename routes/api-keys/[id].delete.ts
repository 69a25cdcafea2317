import { defineApi } from "../../src/api/define-api.ts";
import { deleteKey } from "../../src/api/endpoints/operator/accounts.ts";
import { notFound } from "../../src/api/answers/unmatched.ts";

/** `DELETE /api-keys/{id}`: the key ends at once. */
export default defineApi(deleteKey, async ({ app, caller, params }) => {
  if (!(await app.keys.remove(caller.accountId, params["id"]!, caller))) throw notFound();
});
