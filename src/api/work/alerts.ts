import { GatewayError } from "../../model/errors/errors.ts";
import { view } from "../../model/view.ts";
import { alertsReport, alertTest } from "../schemas/alerts.ts";
import type { App } from "../services.ts";

/** What is open, and whether it arrives. */
export const reportAlerts = async ({ alerts }: Pick<App, "alerts">) => ({
  data: view(alertsReport, await alerts.report()),
});

/** @throws NOT_FOUND when nobody is told */
export async function testAlert({ alerts }: Pick<App, "alerts">) {
  const posted = await alerts.test();
  if (posted === null)
    throw new GatewayError("NOT_FOUND", "ALERT_URL is not set: set it and restart the gateway.");
  return { data: view(alertTest, posted) };
}
