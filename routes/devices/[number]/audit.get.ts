import { auditSentence, auditView } from "../../../src/api/views/audit.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { auditDevice } from "../../../src/api/endpoints/audit.ts";
import { JsonResult } from "../../../src/api/answers/envelope.ts";
import { ofDevice } from "../../../src/api/work/webhooks/webhooks.ts";

/** `GET /devices/{number}/audit`: were messages lost? */
export default defineApi(auditDevice, async ({ app, caller, params, input }) => {
  const report = await ofDevice(app, caller, params["number"], (id) => app.audit.report(id, input.since));
  return new JsonResult({ data: auditView(report) }, { message: auditSentence(report) });
});
