import { z } from "zod";
import { endpoint } from "../endpoint.ts";

/** `POST /admin/backup`: answers with the archive itself; the gateway goes on meanwhile. */
export const createBackup = endpoint({
  method: "POST",
  path: "/admin/backup",
  access: { by: "operator" },
  summary:
    "A consistent copy of all data as one archive, made while the gateway runs; the master key is not in it",
  message: "Backup.",
  errors: ["RATE_LIMITED", "UNAVAILABLE"],
  input: z.object({}),
  output: z.string(),
  produces: "application/x-tar",
});
