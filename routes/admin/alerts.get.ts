import { defineApi } from "../../src/api/define-api.ts";
import { listAlerts } from "../../src/api/endpoints/operator/alerts.ts";
import { reportAlerts } from "../../src/api/work/alerts.ts";

/** `GET /admin/alerts` */
export default defineApi(listAlerts, ({ app }) => reportAlerts(app));
