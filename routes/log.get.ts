import { auditEntryViewFor, requireWholeAccount } from "../src/api/audit/audit-log.ts";
import { defineApi } from "../src/api/define-api.ts";
import { listChanges } from "../src/api/endpoints/operator/audit-log.ts";
import { pageView } from "../src/api/answers/envelope.ts";

/** `GET /log`: what was changed in the account, for keys of all its numbers. */
export default defineApi(listChanges, async ({ app, caller, input }) => {
  requireWholeAccount(caller);
  return pageView(await app.auditLog.list(caller.accountId, input), auditEntryViewFor(caller));
});
