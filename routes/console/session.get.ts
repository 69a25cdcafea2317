import { defineApi } from "../../src/api/define-api.ts";
import { getCurrentSession } from "../../src/api/endpoints/sessions.ts";
import { sessionAnswer } from "../../src/api/access/sessions.ts";

/** `GET /console/session`: who is signed in, and the token for writes. */
export default defineApi(getCurrentSession, ({ app, session }) => sessionAnswer(app, session));
