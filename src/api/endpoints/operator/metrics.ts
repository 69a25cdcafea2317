import { z } from "zod";
import { endpoint } from "../../endpoint.ts";

export const metrics = endpoint({
  method: "GET",
  path: "/metrics",
  access: { by: "operator" },
  summary: "Metrics for Prometheus",
  message: "Metrics.",
  input: z.object({}),
  output: z.string(),
  produces: "text/plain",
});
