import type { Drain } from "../drain.ts";
import { JsonResult } from "../answers/envelope.ts";
import type { App } from "../services.ts";

/** Whoever is leaving need not ask. */
const AS_IF_GOOD = { database: true, disk: true, reason: null };

/** Each check by itself, so that a probe's log says which one it was. */
export async function readiness(app: App, drain: Drain): Promise<JsonResult> {
  const { leaving: draining } = drain;
  const { reason, ...storage } = draining ? AS_IF_GOOD : await app.health.check();
  const checks = { ...storage, draining };
  const longest_stall_ms = app.health.longestStallMs();
  if (checks.database && checks.disk && !draining) return new JsonResult({ checks, longest_stall_ms });
  return new JsonResult(
    { checks, longest_stall_ms, errors: { code: "UNAVAILABLE" } },
    {
      httpStatus: 503,
      status: false,
      message: reason === null ? "Not ready." : `Not ready: ${reason}.`,
      headers: { "retry-after": "5" },
    },
  );
}
