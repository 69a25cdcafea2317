import { defineApi } from "../../src/api/define-api.ts";
import { deleteCurrentSession } from "../../src/api/endpoints/sessions.ts";
import { JsonResult } from "../../src/api/answers/envelope.ts";
import { noSessionCookie } from "../../src/api/access/session-cookie.ts";

/** `DELETE /console/session`: signs out. */
export default defineApi(deleteCurrentSession, async ({ app, session }) => {
  await app.sessions.end(session.credential, session.id);
  return new JsonResult({}, { headers: { "set-cookie": noSessionCookie(app) } });
});
