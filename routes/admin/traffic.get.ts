import { defineApi } from "../../src/api/define-api.ts";
import { getAllTraffic } from "../../src/api/endpoints/traffic.ts";
import { trafficView } from "../../src/api/traffic-view.ts";

/** `GET /admin/traffic`: of all numbers together. */
export default defineApi(getAllTraffic, async ({ app, input }) => ({
  data: trafficView(await app.traffic.report(null, input.hours)),
}));
