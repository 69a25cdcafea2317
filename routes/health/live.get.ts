import { defineApi } from "../../src/api/define-api.ts";
import { live } from "../../src/api/endpoints/health.ts";

/** `GET /health/live`: the process answers, draining or not. */
export default defineApi(live, () => {});
