import { defineApi } from "../../../../src/api/define-api.ts";
import { deleteLink } from "../../../../src/api/endpoints/links.ts";
import { findDevice } from "../../../../src/api/access/senders.ts";
import { notFound } from "../../../../src/api/answers/unmatched.ts";

/** `DELETE /devices/{number}/magic-link/{id}`: the link ends at once, and whoever came by it is signed out. */
export default defineApi(deleteLink, async ({ app, caller, params }) => {
  const { number } = findDevice(app, caller, params["number"]);
  if (!(await app.links.remove(caller.accountId, [number], params["id"]!))) throw notFound();
});
