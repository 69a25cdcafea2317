import { defineApi } from "../../../src/api/define-api.ts";
import { deleteSession } from "../../../src/api/endpoints/sessions.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";

/** `DELETE /sessions/{id}`: ends one that was opened with the same key. */
export default defineApi(deleteSession, async ({ app, credential, params }) => {
  if (!(await app.sessions.end(credential(), params["id"]!))) throw notFound();
});
