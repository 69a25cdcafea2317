import { defineApi } from "../../src/api/define-api.ts";
import { getAllStats } from "../../src/api/endpoints/stats.ts";
import { statsView } from "../../src/api/views/stats.ts";

/** `GET /admin/stats`: of all numbers together. */
export default defineApi(getAllStats, async ({ app, input }) =>
  statsView(await app.traffic.report(null, input.hours)),
);
