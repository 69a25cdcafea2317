import { z } from "zod";
import { endpoint } from "../../endpoint.ts";

/** `POST /admin/backup`: answers with the archive itself; the gateway goes on meanwhile. */
export const createBackup = endpoint({
  method: "POST",
  path: "/admin/backup",
  access: { by: "operator" },
  summary:
    "One archive with a consistent copy of all data, made while the gateway runs, without the master key",
  message: "Backup.",
  errors: ["RATE_LIMITED", "UNAVAILABLE"],
  input: z.object({}),
  output: z.string(),
  produces: "application/x-tar",
});
