import { defineApi } from "../../../src/api/define-api.ts";
import { testAlerts } from "../../../src/api/endpoints/operator/alerts.ts";
import { testAlert } from "../../../src/api/work/alerts.ts";

/** `POST /admin/alerts/test` */
export default defineApi(testAlerts, ({ app }) => testAlert(app));
