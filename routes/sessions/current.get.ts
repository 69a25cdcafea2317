import { defineApi } from "../../src/api/define-api.ts";
import { getCurrentSession } from "../../src/api/endpoints/sessions.ts";
import { sessionView } from "../../src/api/sessions.ts";

/** `GET /sessions/current`: who is signed in, and the token for writes. */
export default defineApi(getCurrentSession, ({ session }) => ({ data: sessionView(session) }));
