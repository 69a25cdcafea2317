import { defineApi } from "../../../../../src/api/define-api.ts";
import { deleteAccountKey } from "../../../../../src/api/endpoints/operator/accounts.ts";
import { notFound } from "../../../../../src/api/answers/unmatched.ts";

/** `DELETE /admin/accounts/{id}/api-keys/{keyId}` */
export default defineApi(deleteAccountKey, async ({ app, params }) => {
  if (!(await app.keys.remove(params["id"]!, params["keyId"]!, null))) throw notFound();
});
