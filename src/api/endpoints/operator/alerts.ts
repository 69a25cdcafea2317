import { z } from "zod";
import { endpoint } from "../../endpoint.ts";
import { alertTest, alertsReport } from "../../schemas/alerts.ts";
import { record } from "../../schemas/answer.ts";

/** `GET /admin/alerts`: what is open, and whether alerts arrive. */
export const listAlerts = endpoint({
  method: "GET",
  path: "/admin/alerts",
  access: { by: "operator" },
  summary: "Open alerts, and whether they arrive at ALERT_URL",
  bounded: "the thousand that are open, at most.",
  message: "Alerts.",
  input: z.object({}),
  output: record(alertsReport),
});

/** `POST /admin/alerts/test`: the answer says whether it arrived. */
export const testAlerts = endpoint({
  method: "POST",
  path: "/admin/alerts/test",
  access: { by: "operator" },
  changesNothing: "It only posts a sample.",
  summary: "Post a sample to ALERT_URL",
  message: "A sample was posted.",
  errors: ["NOT_FOUND"],
  input: z.object({}),
  output: record(alertTest),
});
