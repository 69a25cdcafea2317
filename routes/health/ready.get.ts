import { defineApi } from "../../src/api/define-api.ts";
import { ready } from "../../src/api/endpoints/health.ts";
import { readiness } from "../../src/api/work/health.ts";

/** `GET /health/ready`: 503 when requests would be refused. */
export default defineApi(ready, ({ app, event }) => readiness(app, event.context.drain));
