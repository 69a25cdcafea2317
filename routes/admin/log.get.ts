import { auditEntryView } from "../../src/api/audit/audit-log.ts";
import { defineApi } from "../../src/api/define-api.ts";
import { listAllChanges } from "../../src/api/endpoints/operator/audit-log.ts";
import { pageView } from "../../src/api/answers/envelope.ts";

/** `GET /admin/log`: what was changed, by whom. */
export default defineApi(listAllChanges, async ({ app, input: { account, ...wanted } }) =>
  pageView(await app.auditLog.list(account, wanted), auditEntryView),
);
