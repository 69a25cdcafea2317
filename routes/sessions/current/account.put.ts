import { defineApi } from "../../../src/api/define-api.ts";
import { chooseAccount } from "../../../src/api/endpoints/sessions.ts";
import { chooseAccountOf, sessionView } from "../../../src/api/sessions.ts";

/** `PUT /sessions/current/account`: whose endpoints the operator asks from now on. */
export default defineApi(chooseAccount, async ({ app, session, input }) => ({
  data: sessionView(await chooseAccountOf(app, session, input.account ?? null)),
}));
