import type { Drain } from "./drain.ts";
import { JsonResult } from "./envelope.ts";
import type { App } from "./services.ts";

/** Each check by itself, so that a probe's log says which one it was. */
export async function readiness(app: App, drain: Drain): Promise<JsonResult> {
  const { draining } = drain;
  const checks = { ...(draining ? { database: true, disk: true } : await app.health.check()), draining };
  const longest_stall_ms = app.health.longestStallMs();
  if (checks.database && checks.disk && !draining) return new JsonResult({ checks, longest_stall_ms });
  return new JsonResult(
    { checks, longest_stall_ms, errors: { code: "UNAVAILABLE" } },
    { httpStatus: 503, status: false, message: "Not ready.", headers: { "retry-after": "5" } },
  );
}
