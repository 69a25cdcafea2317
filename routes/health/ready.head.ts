import { defineApi } from "../../src/api/define-api.ts";
import { ready } from "../../src/api/endpoints/health.ts";
import { readiness } from "../../src/api/work/health.ts";

/** `HEAD /health/ready`: the same without the body. */
export default defineApi(ready, ({ app, event }) => readiness(app, event.context.drain));
