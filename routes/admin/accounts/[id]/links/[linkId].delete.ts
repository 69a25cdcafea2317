import { defineApi } from "../../../../../src/api/define-api.ts";
import { deleteAccountLink } from "../../../../../src/api/endpoints/links.ts";
import { notFound } from "../../../../../src/api/answers/unmatched.ts";

/** `DELETE /admin/accounts/{id}/links/{linkId}`: the link ends at once, and whoever came by it is signed out. */
export default defineApi(deleteAccountLink, async ({ app, params }) => {
  if (!(await app.links.remove(params["id"]!, null, params["linkId"]!))) throw notFound();
});
