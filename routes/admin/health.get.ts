import { defineApi } from "../../src/api/define-api.ts";
import { getGatewayHealth } from "../../src/api/endpoints/operator/gateway-health.ts";
import { healthView } from "../../src/api/views/gateway-health.ts";

/** `GET /admin/health`: how the gateway is. */
export default defineApi(getGatewayHealth, async ({ app }) => ({
  data: healthView(await app.overview.look()),
}));
