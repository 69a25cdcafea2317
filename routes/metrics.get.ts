import { defineApi } from "../src/api/define-api.ts";
import { metrics } from "../src/api/endpoints/operator/metrics.ts";
import { RawResult } from "../src/api/answers/envelope.ts";

/** `GET /metrics`: what the gateway measures of itself, for the operator. */
export default defineApi(metrics, async ({ app }) => {
  const text = await app.metrics.read();
  return new RawResult(text, { "content-type": app.metrics.contentType });
});
