import { defineApi } from "../../../src/api/define-api.ts";
import { chooseAccount } from "../../../src/api/endpoints/sessions.ts";
import { chooseAccountOf, sessionAnswer } from "../../../src/api/access/sessions.ts";

/** `PUT /console/session/account`: whose endpoints the operator asks from now on. */
export default defineApi(chooseAccount, async ({ app, session, input }) =>
  sessionAnswer(app, await chooseAccountOf(app, session, input.account ?? null)),
);
