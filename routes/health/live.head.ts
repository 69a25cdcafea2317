import { defineApi } from "../../src/api/define-api.ts";
import { live } from "../../src/api/endpoints/health.ts";

/** `HEAD /health/live`: the same without the body. */
export default defineApi(live, () => {});
