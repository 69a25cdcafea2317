import { defineApi } from "../../src/api/define-api.ts";
import { createSession } from "../../src/api/endpoints/sessions.ts";
import { signIn } from "../../src/api/access/sessions.ts";

/** `POST /console/session`: signs in with a key, the operator's token or a link. */
export default defineApi(createSession, ({ app, event, input }) => signIn(app, event, input));
