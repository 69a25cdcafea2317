import { defineApi } from "../../src/api/define-api.ts";
import { deleteLink } from "../../src/api/endpoints/links.ts";
import { notFound } from "../../src/api/unmatched.ts";

/** `DELETE /links/{id}`: the link ends at once, and whoever came by it is signed out. */
export default defineApi(deleteLink, async ({ app, caller, params }) => {
  if (!(await app.links.remove(caller.accountId, caller.devices, params["id"]!))) throw notFound();
});
