import { defineApi } from "../../../../../src/api/define-api.ts";
import { deleteAccountKey } from "../../../../../src/api/endpoints/accounts.ts";
import { notFound } from "../../../../../src/api/unmatched.ts";

/** `DELETE /admin/accounts/{id}/api-keys/{keyId}` */
export default defineApi(deleteAccountKey, async ({ app, params }) => {
  if (!(await app.keys.remove(params["id"]!, params["keyId"]!, null))) throw notFound();
});
